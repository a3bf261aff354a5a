// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/experiment_chart.h"

#include "engine/experiment/experiment_table.h"
#include "engine/experiment/svg_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace spanscope::experiment {
namespace {

constexpr const char* kInk = "#1f2430";
constexpr const char* kQuiet = "#5b6472";
constexpr const char* kGrid = "#e3e6eb";
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

/// One axis: what it spans, and where that lies.
struct Axis {
  double low = 0;
  double high = 1;
  bool isLogarithmic = false;
  double from = 0;  ///< pixels, of `low`
  double to = 1;    ///< and of `high`

  double at(double value) const {
    const double share = isLogarithmic ? std::log(std::max(value, low) / low) / std::log(high / low)
                                       : (value - low) / (high - low);
    return from + (to - from) * share;
  }
};

/// Whole powers of two around the values, or round numbers from 0 on.
Axis axisOf(double low, double high, bool wantsLogarithm, double from, double to) {
  Axis axis{.low = 0, .high = 1, .isLogarithmic = wantsLogarithm && low > 0, .from = from, .to = to};
  if (axis.isLogarithmic) {
    axis.low = std::exp2(std::floor(std::log2(low)));
    axis.high = std::exp2(std::ceil(std::log2(high)));
    if (axis.high <= axis.low) axis.high = 2 * axis.low;
    return axis;
  }
  const std::vector<double> ticks = axisTicks(0, high, false);
  axis.high = ticks.empty() || ticks.back() <= 0 ? 1 : ticks.back();
  return axis;
}

}  // namespace

std::vector<double> axisTicks(double low, double high, bool isLogarithmic) {
  constexpr int kMost = 9;
  std::vector<double> ticks;
  if (isLogarithmic) {
    const int first = static_cast<int>(std::floor(std::log2(low)));
    const int last = static_cast<int>(std::ceil(std::log2(high)));
    const int stride = std::max(1, (last - first + kMost - 1) / kMost);
    for (int power = first; power <= last; power += stride) ticks.push_back(std::exp2(power));
    return ticks;
  }
  if (!(high > low)) return ticks;
  const double rough = (high - low) / 5;
  const double unit = std::pow(10, std::floor(std::log10(rough)));
  const double share = rough / unit;
  const double stride = unit * (share <= 1 ? 1 : share <= 2 ? 2 : share <= 5 ? 5 : 10);
  const auto steps = static_cast<int>(std::ceil((high - low) / stride - 1e-9));
  for (int i = 0; i <= steps; ++i) ticks.push_back(low + stride * i);
  return ticks;
}

std::string experimentLinesSvg(const ExperimentResult& result, std::size_t measureIndex) {
  const Experiment* experiment = findExperiment(result.wish.experiment);
  if (experiment == nullptr || result.points.empty() || measureIndex >= experiment->measures.size())
    return {};
  const Measure& measure = experiment->measures[measureIndex];
  const std::vector<std::string> series = result.series();
  const std::vector<const ExperimentPoint*> points = sortedPoints(result);
  double xLow = std::numeric_limits<double>::infinity();
  double xHigh = 0;
  double yLow = xLow;
  double yHigh = 0;
  for (const ExperimentPoint* point : points) {
    const Figure spread = figureOf(*point, measureIndex, measure);
    xLow = std::min(xLow, point->x);
    xHigh = std::max(xHigh, point->x);
    yLow = std::min(yLow, spread.low);
    yHigh = std::max(yHigh, spread.high);
  }
  const double top = 66 + kRowOfLegend * static_cast<double>((series.size() + 1) / 2) + 14;
  const Axis x = axisOf(xLow, xHigh, experiment->isXLogarithmic, kLeft, kLeft + kWidth);
  const Axis y = axisOf(yLow, yHigh, measure.isLogarithmic, top + kHeight, top);

  SvgWriter svg(kLeft + kWidth + 40, top + kHeight + 66, experiment->title);
  svg.text({kLeft, 28}, experiment->title, {.color = kInk, .size = 16, .bold = true});
  svg.text({kLeft, 47}, experimentSetup(result), {.color = kQuiet, .size = 11});
  for (std::size_t i = 0; i < series.size(); ++i) {
    const double left = kLeft + (i % 2 == 0 ? 0 : kWidth / 2);
    const double row = 68 + kRowOfLegend * static_cast<double>(i / 2);
    svg.line({left, row}, {left + 30, row}, {.color = lookOf(i).color, .width = 2, .dash = lookOf(i).dash});
    drawMark(svg, {left + 15, row}, i);
    svg.text({left + 38, row + 4}, series[i], {.color = kInk});
  }
  for (const double tick : axisTicks(y.low, y.high, y.isLogarithmic)) {
    svg.line({kLeft, y.at(tick)}, {kLeft + kWidth, y.at(tick)}, {.color = tick == y.low ? kQuiet : kGrid});
    svg.text({kLeft - 10, y.at(tick) + 4}, fmt::format("{:g}", tick),
             {.color = kQuiet, .anchor = TextAnchor::End});
  }
  double last = -1e9;
  std::vector<double> places;
  for (const ExperimentPoint* point : points) places.push_back(point->x);
  std::sort(places.begin(), places.end());
  for (const double place : places) {
    const double at = x.at(place);
    if (at - last < 26) continue;  // the next number would touch this one
    last = at;
    svg.line({at, top + kHeight}, {at, top + kHeight + 5}, {.color = kQuiet});
    svg.text({at, top + kHeight + 20}, fmt::format("{:g}", place),
             {.color = kQuiet, .anchor = TextAnchor::Middle});
  }
  svg.text({kLeft + kWidth / 2, top + kHeight + 46}, experiment->xName,
           {.color = kInk, .anchor = TextAnchor::Middle});
  svg.text({20, top + kHeight / 2}, measureTitle(measure),
           {.color = kInk, .anchor = TextAnchor::Middle, .turned = -90});
  for (std::size_t i = 0; i < series.size(); ++i) {
    std::vector<SvgPoint> line;
    for (const ExperimentPoint* point : points) {
      if (point->series != series[i]) continue;
      const Figure spread = figureOf(*point, measureIndex, measure);
      line.push_back({x.at(point->x), y.at(spread.value)});
      svg.line({line.back().x, y.at(spread.low)}, {line.back().x, y.at(spread.high)},
               {.color = lookOf(i).color});
    }
    if (line.size() > 1) svg.polyline(line, {.color = lookOf(i).color, .width = 2, .dash = lookOf(i).dash});
    for (const SvgPoint& at : line) drawMark(svg, at, i);
  }
  return std::move(svg).finish();
}

}  // namespace spanscope::experiment
