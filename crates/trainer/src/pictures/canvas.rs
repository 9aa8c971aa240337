//! What is drawn on: an array of pixels that becomes a PNG.

use embedded_graphics::mono_font::{MonoFont, MonoTextStyle};
use embedded_graphics::pixelcolor::Rgb888;
use embedded_graphics::prelude::*;
use embedded_graphics::primitives::{Line, PrimitiveStyle, Rectangle, Triangle};
use embedded_graphics::text::{Alignment, Baseline, Text, TextStyleBuilder};
use std::convert::Infallible;

/// A picture, ready to be written to a file.
#[derive(Clone, PartialEq, Debug)]
pub struct Picture {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// The bytes of a PNG file.
    pub png: Vec<u8>,
}

/// A colour of 8 bits each of red, green and blue.
pub(super) const fn rgb(hex: u32) -> Rgb888 {
    Rgb888::new((hex >> 16) as u8, (hex >> 8) as u8, hex as u8)
}

/// `share` of one colour in another.
pub(super) fn mixed(ground: Rgb888, color: Rgb888, share: f32) -> Rgb888 {
    let share = share.clamp(0.0, 1.0);
    let mix = |a: u8, b: u8| (f32::from(a) + share * (f32::from(b) - f32::from(a))).round() as u8;
    Rgb888::new(mix(ground.r(), color.r()), mix(ground.g(), color.g()), mix(ground.b(), color.b()))
}

/// An array of pixels, white at first. What lies outside is not drawn.
pub(super) struct Canvas {
    width: u32,
    height: u32,
    bytes: Vec<u8>,
}

impl Canvas {
    pub(super) fn new(width: u32, height: u32) -> Canvas {
        Canvas { width, height, bytes: vec![255; (width * height * 3) as usize] }
    }

    pub(super) fn fill(&mut self, corner: Point, width: u32, height: u32, color: Rgb888) {
        let rectangle = Rectangle::new(corner, Size::new(width, height));
        self.draw(&rectangle.into_styled(PrimitiveStyle::with_fill(color)));
    }

    pub(super) fn line(&mut self, from: Point, to: Point, thickness: u32, color: Rgb888) {
        let style = PrimitiveStyle::with_stroke(color, thickness);
        self.draw(&Line::new(from, to).into_styled(style));
    }

    /// A convex shape with a thin edge.
    pub(super) fn shape(&mut self, corners: &[Point], fill: Rgb888, edge: Rgb888) {
        for pair in corners[1..].windows(2) {
            let triangle = Triangle::new(corners[0], pair[0], pair[1]);
            self.draw(&triangle.into_styled(PrimitiveStyle::with_fill(fill)));
        }
        for (&from, &to) in corners.iter().zip(corners.iter().cycle().skip(1)) {
            self.line(from, to, 1, edge);
        }
    }

    /// Text around a point.
    pub(super) fn text(&mut self, text: &str, middle: Point, font: &MonoFont<'_>, color: Rgb888) {
        let style =
            TextStyleBuilder::new().alignment(Alignment::Center).baseline(Baseline::Middle).build();
        self.draw(&Text::with_text_style(text, middle, MonoTextStyle::new(font, color), style));
    }

    /// Text that begins at a point, at half its height.
    pub(super) fn label(&mut self, text: &str, left: Point, font: &MonoFont<'_>, color: Rgb888) {
        let style = TextStyleBuilder::new().baseline(Baseline::Middle).build();
        self.draw(&Text::with_text_style(text, left, MonoTextStyle::new(font, color), style));
    }

    fn draw<T>(&mut self, shape: &impl Drawable<Color = Rgb888, Output = T>) {
        match shape.draw(self) {
            Ok(_) => (),
        }
    }

    pub(super) fn finish(self) -> Picture {
        let mut png = Vec::new();
        let mut encoder = png::Encoder::new(&mut png, self.width, self.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_compression(png::Compression::High);
        let written = encoder.write_header().and_then(|mut writer| {
            writer.write_image_data(&self.bytes)?;
            writer.finish()
        });
        written.expect("memory takes every picture");
        Picture { width: self.width, height: self.height, png }
    }
}

impl OriginDimensions for Canvas {
    fn size(&self) -> Size {
        Size::new(self.width, self.height)
    }
}

impl DrawTarget for Canvas {
    type Color = Rgb888;
    type Error = Infallible;

    fn draw_iter<I>(&mut self, pixels: I) -> Result<(), Infallible>
    where
        I: IntoIterator<Item = Pixel<Rgb888>>,
    {
        for Pixel(point, color) in pixels {
            let inside = |at: i32, size: u32| u32::try_from(at).ok().filter(|&at| at < size);
            if let (Some(x), Some(y)) = (inside(point.x, self.width), inside(point.y, self.height))
            {
                let at = ((y * self.width + x) * 3) as usize;
                self.bytes[at..at + 3].copy_from_slice(&[color.r(), color.g(), color.b()]);
            }
        }
        Ok(())
    }
}
