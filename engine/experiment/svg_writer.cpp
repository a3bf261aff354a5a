// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/svg_writer.h"

#include "engine/base/visible_text.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

namespace spanscope::experiment {
namespace {

const char* anchorName(TextAnchor anchor) {
  switch (anchor) {
    case TextAnchor::Start:
      return "start";
    case TextAnchor::Middle:
      return "middle";
    case TextAnchor::End:
      return "end";
  }
  return "";
}

std::string strokeText(const Stroke& stroke) {
  std::string text =
      fmt::format(R"(stroke="{}" stroke-width="{:g}")", escapedMarkup(stroke.color), stroke.width);
  if (!stroke.dash.empty()) text += fmt::format(R"( stroke-dasharray="{}")", escapedMarkup(stroke.dash));
  return text;
}

std::string pointsText(const std::vector<SvgPoint>& points) {
  std::string text;
  for (const SvgPoint& point : points) {
    fmt::format_to(std::back_inserter(text), "{}{:.2f},{:.2f}", text.empty() ? "" : " ", point.x, point.y);
  }
  return text;
}

}  // namespace

SvgWriter::SvgWriter(double width, double height, std::string_view title)
    : m_text(fmt::format(R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0:g}" height="{1:g}" )"
                         R"(viewBox="0 0 {0:g} {1:g}" font-family="Inter, Helvetica, Arial, sans-serif">)"
                         "\n<title>{2}</title>\n",
                         width, height, escapedMarkup(title))) {
  rectangle({}, width, height, "#ffffff");
}

void SvgWriter::rectangle(SvgPoint topLeft, double width, double height, std::string_view fill) {
  fmt::format_to(std::back_inserter(m_text),
                 R"(<rect x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}" fill="{}"/>)"
                 "\n",
                 topLeft.x, topLeft.y, width, height, escapedMarkup(fill));
}

void SvgWriter::line(SvgPoint from, SvgPoint to, const Stroke& stroke) {
  fmt::format_to(std::back_inserter(m_text),
                 R"(<line x1="{:.2f}" y1="{:.2f}" x2="{:.2f}" y2="{:.2f}" {}/>)"
                 "\n",
                 from.x, from.y, to.x, to.y, strokeText(stroke));
}

void SvgWriter::polyline(const std::vector<SvgPoint>& points, const Stroke& stroke) {
  fmt::format_to(std::back_inserter(m_text),
                 R"(<polyline points="{}" fill="none" stroke-linejoin="round" {}/>)"
                 "\n",
                 pointsText(points), strokeText(stroke));
}

void SvgWriter::polygon(const std::vector<SvgPoint>& points, std::string_view fill) {
  fmt::format_to(std::back_inserter(m_text),
                 R"(<polygon points="{}" fill="{}"/>)"
                 "\n",
                 pointsText(points), escapedMarkup(fill));
}

void SvgWriter::circle(SvgPoint center, double radius, std::string_view fill) {
  fmt::format_to(std::back_inserter(m_text),
                 R"(<circle cx="{:.2f}" cy="{:.2f}" r="{:g}" fill="{}"/>)"
                 "\n",
                 center.x, center.y, radius, escapedMarkup(fill));
}

void SvgWriter::text(SvgPoint at, std::string_view text, const TextStyle& style) {
  std::string turn;
  if (style.turned != 0)
    turn = fmt::format(R"~( transform="rotate({:g} {:.2f} {:.2f})")~", style.turned, at.x, at.y);
  fmt::format_to(std::back_inserter(m_text),
                 R"(<text x="{:.2f}" y="{:.2f}" fill="{}" font-size="{:g}" text-anchor="{}"{}{}>{}</text>)"
                 "\n",
                 at.x, at.y, escapedMarkup(style.color), style.size, anchorName(style.anchor),
                 style.bold ? R"( font-weight="600")" : "", turn, escapedMarkup(text));
}

std::string SvgWriter::finish() && {
  m_text += "</svg>\n";
  return std::move(m_text);
}

}  // namespace spanscope::experiment
