// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/chart_inks.h"
#include "engine/experiment/chart_svg.h"
#include "engine/experiment/svg_writer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace spanscope::experiment {
namespace {

constexpr double kLeft = 78;
constexpr double kWidth = 600;
constexpr double kHeight = 300;
constexpr double kRowOfLegend = 20;

struct SeriesLook {
  const char* color;
  const char* dash;
};
/// Okabe and Ito's palette; dashes tell them apart without colour.
constexpr std::array kLooks = {SeriesLook{"#0072b2", ""},         SeriesLook{"#d55e00", "8 4"},
                               SeriesLook{"#009e73", "2 3"},      SeriesLook{"#cc79a7", "10 3 2 3"},
                               SeriesLook{"#000000", "1 4"},      SeriesLook{"#56b4e9", "6 2"},
                               SeriesLook{"#a06a00", "12 4 4 4"}, SeriesLook{"#5b3fa0", "3 6"}};

const SeriesLook& lookOf(std::size_t series) {
  return kLooks[series % kLooks.size()];
}

/// Another shape for each series: circle, square, triangle, diamond, and again.
void drawMark(SvgWriter& svg, SvgPoint at, std::size_t series) {
  const char* color = lookOf(series).color;
  switch (series % 4) {
    case 0:
      svg.circle(at, 4.5, color);
      break;
    case 1:
      svg.rectangle({at.x - 4, at.y - 4}, 8, 8, color);
      break;
    case 2:
      svg.polygon({{at.x, at.y - 5.5}, {at.x + 5, at.y + 4}, {at.x - 5, at.y + 4}}, color);
      break;
    default:
      svg.polygon({{at.x, at.y - 5.5}, {at.x + 5.5, at.y}, {at.x, at.y + 5.5}, {at.x - 5.5, at.y}}, color);
  }
}

/// An axis, and where it lies.
struct PlacedAxis {
  const ChartAxis& axis;
  double from = 0;  ///< pixels, of its low end
  double to = 1;    ///< and of its high end

  double at(double value) const {
    const double share = axis.isLogarithmic
                             ? std::log(std::max(value, axis.low) / axis.low) / std::log(axis.high / axis.low)
                             : (value - axis.low) / (axis.high - axis.low);
    return from + (to - from) * share;
  }
};

void drawLegend(SvgWriter& svg, const LineChart& chart) {
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const double left = kLeft + (i % 2 == 0 ? 0 : kWidth / 2);
    const double row = 68 + kRowOfLegend * static_cast<double>(i / 2);
    svg.line({left, row}, {left + 30, row}, {.color = lookOf(i).color, .width = 2, .dash = lookOf(i).dash});
    drawMark(svg, {left + 15, row}, i);
    svg.text({left + 38, row + 4}, chart.series[i].name, {.color = kInk});
  }
}

void drawAxes(SvgWriter& svg, const LineChart& chart, const PlacedAxis& x, const PlacedAxis& y) {
  for (const ChartTick& tick : chart.y.ticks) {
    svg.line({kLeft, y.at(tick.at)}, {kLeft + kWidth, y.at(tick.at)},
             {.color = tick.at == chart.y.low ? kQuiet : kGrid});
    svg.text({kLeft - 10, y.at(tick.at) + 4}, tick.text, {.color = kQuiet, .anchor = TextAnchor::End});
  }
  double last = -1e9;
  for (const ChartTick& tick : chart.x.ticks) {
    const double at = x.at(tick.at);
    if (at - last < 26) continue;  // the next number would touch this one
    last = at;
    svg.line({at, y.from}, {at, y.from + 5}, {.color = kQuiet});
    svg.text({at, y.from + 20}, tick.text, {.color = kQuiet, .anchor = TextAnchor::Middle});
  }
  svg.text({kLeft + kWidth / 2, y.from + 46}, chart.texts.xLabel,
           {.color = kInk, .anchor = TextAnchor::Middle});
  svg.text({20, y.to + kHeight / 2}, chart.texts.yLabel,
           {.color = kInk, .anchor = TextAnchor::Middle, .turned = -90});
}

}  // namespace

std::string chartSvg(const LineChart& chart) {
  const double top = 66 + kRowOfLegend * static_cast<double>((chart.series.size() + 1) / 2) + 14;
  const PlacedAxis x{chart.x, kLeft, kLeft + kWidth};
  const PlacedAxis y{chart.y, top + kHeight, top};
  SvgWriter svg(kLeft + kWidth + 40, top + kHeight + 66, chart.texts.title);
  svg.text({kLeft, 28}, chart.texts.title, {.color = kInk, .size = 16, .bold = true});
  svg.text({kLeft, 47}, chart.texts.subtitle, {.color = kQuiet, .size = 11});
  drawLegend(svg, chart);
  drawAxes(svg, chart, x, y);
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    std::vector<SvgPoint> line;
    for (const ChartPoint& point : chart.series[i].points) {
      line.push_back({x.at(point.x), y.at(point.figure.value)});
      svg.line({line.back().x, y.at(point.figure.low)}, {line.back().x, y.at(point.figure.high)},
               {.color = lookOf(i).color});
    }
    if (line.size() > 1) svg.polyline(line, {.color = lookOf(i).color, .width = 2, .dash = lookOf(i).dash});
    for (const SvgPoint& at : line) drawMark(svg, at, i);
  }
  return std::move(svg).finish();
}

std::string chartSvg(const Chart& chart) {
  return std::visit(
      []<class T>(const T& one) {
        if constexpr (std::is_same_v<T, std::monostate>)
          return std::string();
        else
          return chartSvg(one);
      },
      chart);
}

}  // namespace spanscope::experiment
