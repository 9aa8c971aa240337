/* Kills a program in the middle of changing files; preloaded by scripts/crash.sh.
 *
 * Counts the calls that change files: writing, making, renaming, removing, shortening, syncing.
 * At call number FAULT_AT a write leaves only half of its bytes, any other call is left out or
 * done, one as often as the other, and the program is gone as if the power had been.
 * Where FAULT_COUNT names a file, the number of calls is put there when the program ends. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_long calls;

/* Whether this call is the one. */
static int strikes(void) {
    const char *at = getenv("FAULT_AT");
    long number = atomic_fetch_add(&calls, 1) + 1;
    return at && number == atol(at);
}

static void die(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

__attribute__((destructor)) static void tell(void) {
    const char *path = getenv("FAULT_COUNT");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file) {
        fprintf(file, "%ld\n", (long)calls);
        fclose(file);
    }
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* Standard output and errors are no files of the run. */
ssize_t write(int fd, const void *bytes, size_t length) {
    if (fd > 2 && strikes()) {
        REAL(write)(fd, bytes, length / 2);
        die();
    }
    return REAL(write)(fd, bytes, length);
}

#define CHANGES(type, name, parameters, arguments)                                                 \
    type name parameters {                                                                         \
        if (strikes()) {                                                                           \
            if (calls % 2) REAL(name) arguments;                                                   \
            die();                                                                                 \
        }                                                                                          \
        return REAL(name) arguments;                                                               \
    }

CHANGES(int, rename, (const char *from, const char *to), (from, to))
CHANGES(int, unlink, (const char *path), (path))
CHANGES(int, unlinkat, (int dir, const char *path, int flags), (dir, path, flags))
CHANGES(int, rmdir, (const char *path), (path))
CHANGES(int, mkdir, (const char *path, mode_t mode), (path, mode))
CHANGES(int, fsync, (int fd), (fd))
CHANGES(int, fdatasync, (int fd), (fd))
CHANGES(int, ftruncate64, (int fd, off64_t length), (fd, length))

int open64(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
    va_end(more);
    if (flags & O_CREAT && strikes()) {
        if (calls % 2) REAL(open64)(path, flags, mode);
        die();
    }
    return REAL(open64)(path, flags, mode);
}
