"""Shapes of an SVG drawing; style names have underscores for hyphens."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement

INK = "#1f2933"
FONT = "font-family: 'DejaVu Sans', Verdana, Arial, sans-serif; font-size: 12px"
#: makes text readable on lines
HALO = {"stroke": "#ffffff", "stroke_width": "3", "stroke_linejoin": "round", "paint_order": "stroke"}

Style = dict[str, str]


def drawing(width: float, height: float) -> Element:
    """An empty white drawing."""
    size = {"width": f"{width:.0f}", "height": f"{height:.0f}", "viewBox": f"0 0 {width:.0f} {height:.0f}"}
    svg = Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "style": FONT, **size})
    rectangle(svg, 0.0, 0.0, width, height, {"fill": "#ffffff"})
    return svg


def rectangle(svg: Element, x: float, y: float, width: float, height: float, style: Style) -> None:
    """A rectangle with its left upper corner at (x, y)."""
    numbers = {"x": f"{x:.1f}", "y": f"{y:.1f}", "width": f"{width:.1f}", "height": f"{height:.1f}"}
    SubElement(svg, "rect", numbers | _attributes(style))


def text(svg: Element, x: float, y: float, words: str, style: Style) -> None:
    """A line of text."""
    SubElement(svg, "text", {"x": f"{x:.1f}", "y": f"{y:.1f}"} | _attributes({"fill": INK} | style)).text = words


def curve(svg: Element, path: str, style: Style) -> None:
    """A line along an SVG path."""
    SubElement(svg, "path", {"d": path} | _attributes({"fill": "none"} | style))


def _attributes(style: Style) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in style.items()}
