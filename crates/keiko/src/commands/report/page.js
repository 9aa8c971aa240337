"use strict";
// Charts: values under the mouse.
const SVG = "http://www.w3.org/2000/svg";

function draw(parent, name, attributes, text) {
  const element = document.createElementNS(SVG, name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  if (text !== undefined) element.textContent = text;
  return parent.appendChild(element);
}

function build(parent, name, className, text) {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return parent.appendChild(element);
}

function nearest(points, x) {
  return points.reduce((best, point) => Math.abs(point[0] - x) < Math.abs(best[0] - x) ? point : best);
}

for (const figure of document.querySelectorAll(".chart")) {
  const chart = JSON.parse(figure.dataset.chart);
  const [svg, output] = [figure.querySelector("svg"), figure.querySelector("output")];
  svg.addEventListener("mousemove", event => {
    const frame = svg.getBoundingClientRect();
    const share = (event.clientX - frame.left) / frame.width;
    const along = Math.min(1, Math.max(0, (share - chart.left) / (chart.right - chart.left)));
    const x = chart.from + along * (chart.to - chart.from);
    const at = chart.series.map(series => nearest(series.points, x));
    output.replaceChildren();
    build(output, "div", "", `after ${at[0][0].toLocaleString("en")} games`);
    chart.series.forEach((series, index) => build(output, "div", "", `${series.name}: ${at[index][1]}`));
    output.style.display = "block";
    const place = figure.getBoundingClientRect();
    const left = Math.min(event.clientX - place.left + 14, place.width - output.offsetWidth - 4);
    output.style.left = `${Math.max(4, left)}px`;
    output.style.top = `${event.clientY - place.top + 14}px`;
  });
  svg.addEventListener("mouseleave", () => { output.style.display = "none"; });
}

for (const time of document.querySelectorAll("time")) {
  time.textContent = new Date(1000 * time.dataset.seconds).toLocaleString();
}

// Games: a board that plays them.
const data = JSON.parse(document.getElementById("games").textContent);
const CELL = 48, HAND = 58, MARGIN = 22;

// The pieces of a position: [column, rank, letters], and both hands: [letter, count].
function readSfen(sfen) {
  const [board, side, hands] = sfen.split(" ");
  const pieces = [];
  board.split("/").forEach((row, rank) => {
    let column = 0;
    for (const [token] of row.matchAll(/\d+|\+?[A-Za-z]/g)) {
      if (/\d/.test(token)) column += Number(token);
      else pieces.push([column++, rank, token]);
    }
  });
  const held = { b: [], w: [] };
  for (const [, count, letter] of (hands === "-" ? "" : hands).matchAll(/(\d*)([A-Za-z])/g)) {
    held[letter === letter.toUpperCase() ? "b" : "w"].push([letter.toUpperCase(), Number(count || 1)]);
  }
  return { pieces, held, side };
}

// A square's column and rank from its USI name.
function square(name) {
  return [data.files - parseInt(name, 10), name.charCodeAt(name.length - 1) - 97];
}

// From and to of a USI move; no from where a piece is dropped.
function squares(usi) {
  const drop = usi.indexOf("*");
  if (drop >= 0) return { to: square(usi.slice(drop + 1)) };
  const [, from, to] = usi.match(/^(\d+[a-z])(\d+[a-z])/);
  return { from: square(from), to: square(to) };
}

class Viewer {
  constructor(place) {
    this.inKanji = Object.values(data.names).some(name => /[^\x00-\x7f]/.test(name));
    place.replaceChildren();
    this.select = build(place, "select");
    this.select.setAttribute("aria-label", "Game");
    data.samples.forEach((sample, index) => {
      const ending = sample.ending ? `: ${sample.ending}` : "";
      this.select.add(new Option(sample.title + ending, index));
    });
    this.select.addEventListener("change", () => this.open(Number(this.select.value)));
    const left = build(place, "div");
    this.board = build(left, "div", "board");
    this.controls(build(left, "div", "controls"));
    const right = build(place, "div");
    this.thoughts = build(right, "div", "thoughts");
    this.curve = build(right, "div", "curve");
    this.moves = build(right, "div", "moves");
    place.addEventListener("keydown", event => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step || event.target === this.select) return;
      event.preventDefault();
      this.go(this.at + step);
    });
    this.open(data.samples.length - 1);
  }

  controls(bar) {
    const button = (text, label, action) => {
      const it = build(bar, "button", "", text);
      it.type = "button";
      it.setAttribute("aria-label", label);
      it.addEventListener("click", action);
    };
    button("«", "First position", () => this.go(0));
    button("‹", "One move back", () => this.go(this.at - 1));
    button("›", "One move on", () => this.go(this.at + 1));
    button("»", "Last position", () => this.go(this.sample.positions.length - 1));
    if (this.inKanji) {
      button("A / 王", "Letters or kanji", () => { this.inKanji = !this.inKanji; this.show(); });
    }
  }

  open(index) {
    this.select.value = index;
    this.sample = data.samples[index];
    this.moves.replaceChildren();
    this.links = this.sample.plies.filter(ply => ply.move).map((ply, index) => {
      const link = build(this.moves, "a", "", `${index + 1}. ${ply.move}`);
      link.addEventListener("click", () => this.go(index + 1));
      return link;
    });
    this.go(0);
  }

  go(at) {
    this.at = Math.min(this.sample.positions.length - 1, Math.max(0, at));
    this.show();
  }

  show() {
    this.showBoard();
    this.showThoughts();
    this.showCurve();
    this.links.forEach((link, index) => link.classList.toggle("now", index + 1 === this.at));
    const now = this.links[this.at - 1];
    this.moves.scrollTop = now ? now.offsetTop - this.moves.offsetTop - 60 : 0;
  }

  name(letters) {
    const upper = letters.toUpperCase();
    return this.inKanji && data.names[upper] || upper;
  }

  showBoard() {
    const { pieces, held } = readSfen(this.sample.positions[this.at]);
    const [width, height] = [data.files * CELL, data.ranks * CELL];
    this.board.replaceChildren();
    const svg = draw(this.board, "svg", {
      viewBox: `0 0 ${width + 2 * HAND + MARGIN} ${height + 2 * MARGIN}`,
    });
    const x = column => HAND + column * CELL, y = rank => MARGIN + rank * CELL;
    const played = this.at > 0 ? squares(this.sample.plies[this.at - 1].move) : {};
    for (let rank = 0; rank < data.ranks; rank++) {
      for (let column = 0; column < data.files; column++) {
        const isLast = [played.from, played.to].some(it => it && it[0] === column && it[1] === rank);
        draw(svg, "rect", { class: "wood" + (isLast ? " last" : ""), x: x(column), y: y(rank), width: CELL, height: CELL });
      }
      draw(svg, "text", { class: "coordinate", x: HAND + width + 11, y: y(rank) + CELL / 2 + 4 }, String.fromCharCode(97 + rank));
    }
    for (let column = 0; column < data.files; column++) {
      draw(svg, "text", { class: "coordinate", x: x(column) + CELL / 2, y: MARGIN - 7 }, data.files - column);
    }
    for (const [column, rank, letters] of pieces) this.showPiece(svg, x(column) + CELL / 2, y(rank) + CELL / 2, letters);
    const step = count => Math.min(26, height / Math.max(1, count));
    const hand = (list, place) => list.forEach(([letter, count], row) => {
      const at = place(row, step(list.length));
      draw(svg, "text", { class: "held", x: at[0], y: at[1], style: "font-size:19px" }, this.name(letter) + (count > 1 ? ` ${count}` : ""));
    });
    const right = HAND + width + MARGIN + (HAND - MARGIN) / 2 + 6;
    hand(held.w, (row, step) => [HAND / 2, MARGIN + 18 + row * step]);
    hand(held.b, (row, step) => [right, MARGIN + height - 8 - row * step]);
    const ply = this.sample.plies[this.at];
    const center = ([column, rank]) => [x(column) + CELL / 2, y(rank) + CELL / 2];
    const { side } = readSfen(this.sample.positions[this.at]);
    for (const [usi, share] of ply ? [...ply.policy].reverse() : []) {
      const { from, to } = squares(usi);
      const start = from ? center(from) : side === "b" ? [right, MARGIN + height - 14] : [HAND / 2, MARGIN + 12];
      const end = center(to);
      draw(svg, "line", { class: "arrow", x1: start[0], y1: start[1], x2: end[0], y2: end[1], "stroke-width": 1 + 7 * share });
      draw(svg, "circle", { class: "goal", cx: end[0], cy: end[1], r: 3 + 4 * share });
    }
  }

  showPiece(svg, x, y, letters) {
    const isWhite = letters !== letters.toUpperCase();
    const piece = draw(svg, "g", { transform: `translate(${x} ${y})${isWhite ? " rotate(180)" : ""}` });
    draw(piece, "path", { class: "piece", d: "M0 -21L13 -15L18 20H-18L-13 -15Z" });
    const name = this.name(letters);
    const size = name.length === 1 ? 23 : 17;
    draw(piece, "text", { class: "name" + (letters[0] === "+" ? " turned" : ""), y: 11, style: `font-size:${size}px` }, name);
  }

  showThoughts() {
    const ply = this.sample.plies[this.at];
    this.thoughts.replaceChildren();
    if (!ply) {
      build(this.thoughts, "b", "", this.sample.ending);
      return;
    }
    const { side } = readSfen(this.sample.positions[this.at]);
    const mover = side === "b" ? "Black" : "White";
    build(this.thoughts, "b", "", ply.move ? `${mover} plays ${ply.move}` : `${mover} to move`);
    build(this.thoughts, "div", "", ply.note);
    const percent = score => `${(100 * score).toFixed(1)}%`;
    const scores = [["search", ply.search], ["network alone", ply.network]].filter(([, score]) => score !== null);
    if (scores.length) {
      build(this.thoughts, "div", "", "Black's expected score: " + scores.map(([who, score]) => `${percent(score)} (${who})`).join(", "));
    }
    const table = build(this.thoughts, "table");
    for (const [usi, share] of ply.policy) {
      const row = build(table, "tr");
      build(row, "td", "", usi);
      build(row, "td", "", percent(share));
    }
  }

  // Black's expected score along the game; a click goes there.
  showCurve() {
    const WIDTH = 480, HEIGHT = 140, LEFT = 60, TOP = 8, BOTTOM = 8;
    const plies = this.sample.plies, last = Math.max(1, this.sample.positions.length - 1);
    this.curve.replaceChildren();
    if (this.sample.positions.length < 2) return;
    const svg = draw(this.curve, "svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": "Black's expected score" });
    const x = at => LEFT + at * (WIDTH - LEFT - 8) / last;
    const y = score => TOP + (1 - score) * (HEIGHT - TOP - BOTTOM);
    for (const [score, name] of [[1, "Black"], [0.5, ""], [0, "White"]]) {
      draw(svg, "path", { class: "grid", d: `M${LEFT} ${y(score)}H${WIDTH - 8}` });
      draw(svg, "text", { class: "y", x: LEFT - 6, y: y(score) + 4 }, name);
    }
    for (const [who, series] of [["network", "s1"], ["search", "s0"]]) {
      const points = plies.map((ply, at) => [at, ply[who]]).filter(([, score]) => score !== null);
      if (who === "search") points.push([last, this.sample.result]);
      const d = points.map(([at, score], index) => `${index ? "L" : "M"}${x(at).toFixed(1)} ${y(score).toFixed(1)}`).join("");
      draw(svg, "path", { class: `line ${series}`, d });
    }
    draw(svg, "path", { class: "cursor", d: `M${x(this.at)} ${TOP}V${HEIGHT - BOTTOM}` });
    svg.addEventListener("click", event => {
      const frame = svg.getBoundingClientRect();
      const at = ((event.clientX - frame.left) / frame.width * WIDTH - LEFT) * last / (WIDTH - LEFT - 8);
      this.go(Math.round(at));
    });
    const keys = build(this.curve, "p", "quiet");
    build(keys, "span", "key s0", "search");
    build(keys, "span", "key s1", "network alone");
  }
}

for (const place of document.querySelectorAll(".viewer")) new Viewer(place);
