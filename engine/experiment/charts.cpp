// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/charts.h"

#include "engine/experiment/svg_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace spanscope::experiment {
namespace {

constexpr const char* kInk = "#1f2430";
constexpr const char* kQuiet = "#5b6472";
constexpr const char* kGrid = "#e3e6eb";
constexpr const char* kNoValue = "#f0f1f4";
constexpr double kLeastMap = 560;

struct SeriesLook {
  const char* color;
  const char* dash;
};
/// Colours of Okabe and Ito's palette that stand out from white.
constexpr std::array kLooks = {SeriesLook{"#0072b2", ""}, SeriesLook{"#d55e00", "8 4"},
                               SeriesLook{"#009e73", "2 3"}, SeriesLook{"#cc79a7", "10 3 2 3"},
                               SeriesLook{"#000000", "1 4"}};

const SeriesLook& lookOf(std::size_t series) {
  return kLooks[series % kLooks.size()];
}

/// Another shape for each series: circle, square, triangle, diamond, and again.
void drawMark(SvgWriter& svg, SvgPoint at, std::size_t series) {
  constexpr double kRadius = 4.5;
  const char* color = lookOf(series).color;
  switch (series % 4) {
    case 0:
      svg.circle(at, kRadius, color);
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

void drawHead(SvgWriter& svg, double left, const ChartTexts& texts) {
  svg.text({left, 30}, texts.title, {.color = kInk, .size = 16, .bold = true});
  svg.text({left, 50}, texts.subtitle, {.color = kQuiet, .size = 12});
}

/// Where the lines are drawn.
struct Plot {
  double left = 70;
  double top = 108;
  double width = 590;
  double height = 270;
  double xMost = 1;

  SvgPoint at(double x, double share) const { return {left + width * x / xMost, top + height * (1 - share)}; }
};

void drawAxes(SvgWriter& svg, const Plot& plot, const ShareChart& chart) {
  constexpr int kSteps = 4;
  for (int i = 0; i <= kSteps; ++i) {
    const double share = static_cast<double>(i) / kSteps;
    svg.line(plot.at(0, share), plot.at(plot.xMost, share), {.color = i == 0 ? kQuiet : kGrid});
    svg.text({plot.left - 10, plot.at(0, share).y + 4}, fmt::format("{:.0f} %", share * 100),
             {.color = kQuiet, .anchor = TextAnchor::End});
  }
  std::vector<double> values;
  for (const ShareSeries& series : chart.series) {
    for (const SharePoint& point : series.points) values.push_back(point.x);
  }
  std::sort(values.begin(), values.end());
  double last = -1e9;
  for (const double x : values) {
    const SvgPoint at = plot.at(x, 0);
    if (at.x - last < 28) continue;  // the next number would touch this one
    last = at.x;
    svg.line(at, {at.x, at.y + 5}, {.color = kQuiet});
    svg.text({at.x, at.y + 20}, fmt::format("{:g}", x), {.color = kQuiet, .anchor = TextAnchor::Middle});
  }
  svg.text({plot.left + plot.width / 2, plot.top + plot.height + 44}, chart.texts.xLabel,
           {.color = kInk, .anchor = TextAnchor::Middle});
  svg.text({22, plot.top + plot.height / 2}, chart.texts.yLabel,
           {.color = kInk, .anchor = TextAnchor::Middle, .turned = -90});
}

void drawLegend(SvgWriter& svg, const Plot& plot, const ShareChart& chart) {
  // No font is measured here: names are short, and a letter is at most so wide.
  constexpr double kLetter = 7;
  double x = plot.left;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const double y = plot.top - 30;
    svg.line({x, y}, {x + 30, y}, {.color = lookOf(i).color, .width = 2, .dash = lookOf(i).dash});
    drawMark(svg, {x + 15, y}, i);
    svg.text({x + 38, y + 4}, chart.series[i].name, {.color = kInk});
    x += 38 + kLetter * static_cast<double>(chart.series[i].name.size()) + 20;
  }
}

void drawSeries(SvgWriter& svg, const Plot& plot, const ShareSeries& series, std::size_t index) {
  const SeriesLook& look = lookOf(index);
  std::vector<SvgPoint> points;
  for (const SharePoint& point : series.points) {
    points.push_back(plot.at(point.x, point.y));
    svg.line(plot.at(point.x, point.low), plot.at(point.x, point.high), {.color = look.color, .width = 1});
  }
  if (points.size() > 1) svg.polyline(points, {.color = look.color, .width = 2, .dash = look.dash});
  for (const SvgPoint& at : points) drawMark(svg, at, index);
}

using Color = std::array<double, 3>;

/// Viridis at nine places: equal steps of the value look equal, also in grey and to people who see fewer
/// colours.
constexpr std::array kScale = {Color{68, 1, 84},    Color{71, 44, 122},  Color{59, 81, 139},
                               Color{44, 113, 142}, Color{33, 144, 141}, Color{39, 173, 129},
                               Color{92, 200, 99},  Color{170, 220, 50}, Color{253, 231, 37}};

Color scaleColor(double share) {
  const double place = std::clamp(share, 0.0, 1.0) * static_cast<double>(kScale.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(place));
  const std::size_t above = std::min(below + 1, kScale.size() - 1);
  Color color{};
  for (std::size_t i = 0; i < color.size(); ++i) {
    color[i] = std::lerp(kScale[below][i], kScale[above][i], place - static_cast<double>(below));
  }
  return color;
}

std::string hex(const Color& color) {
  return fmt::format("#{:02x}{:02x}{:02x}", static_cast<int>(color[0]), static_cast<int>(color[1]),
                     static_cast<int>(color[2]));
}

/// Black or white, whichever is easier to read on a colour.
const char* inkOn(const Color& color) {
  const double luma = 0.299 * color[0] + 0.587 * color[1] + 0.114 * color[2];
  return luma > 130 ? "#000000" : "#ffffff";
}

/// Where the grids stand.
struct Grid {
  double cellWidth = 34;
  double cellHeight = 30;
  double left = 84;
  double top = 104;
  double gap = 34;
  std::size_t rows = 0;
  std::size_t columns = 0;

  double width() const { return cellWidth * static_cast<double>(columns); }
  double height() const { return cellHeight * static_cast<double>(rows); }
  double panelLeft(std::size_t panel) const { return left + static_cast<double>(panel) * (width() + gap); }
};

void drawPanel(SvgWriter& svg, const Grid& grid, const HeatChart& chart, std::size_t index) {
  const HeatPanel& panel = chart.panels[index];
  const double left = grid.panelLeft(index);
  svg.text({left, grid.top - 10}, panel.title, {.color = kInk, .bold = true});
  for (std::size_t row = 0; row < panel.cells.size(); ++row) {
    for (std::size_t column = 0; column < panel.cells[row].size(); ++column) {
      const SvgPoint at{left + grid.cellWidth * static_cast<double>(column),
                        grid.top + grid.cellHeight * static_cast<double>(row)};
      const std::optional<double>& share = panel.cells[row][column];
      const Color color = scaleColor(share.value_or(0));
      svg.rectangle(at, grid.cellWidth - 1, grid.cellHeight - 1, share ? hex(color) : kNoValue);
      svg.text({at.x + (grid.cellWidth - 1) / 2, at.y + grid.cellHeight / 2 + 4},
               share ? chart.text ? chart.text(*share) : fmt::format("{:.0f}", *share * 100) : "–",
               {.color = share ? inkOn(color) : kQuiet, .size = 11, .anchor = TextAnchor::Middle});
    }
  }
  for (std::size_t column = 0; column < chart.columnNames.size(); ++column) {
    svg.text({left + grid.cellWidth * (static_cast<double>(column) + 0.5), grid.top + grid.height() + 17},
             chart.columnNames[column], {.color = kQuiet, .size = 11, .anchor = TextAnchor::Middle});
  }
}

/// What the names of the rows take on the left, beside the label of the axis.
double roomFor(const std::vector<std::string>& rowNames) {
  constexpr double kLabel = 34;
  constexpr double kCharacter = 6.2;  // at their size, on average; what is wider has the gap to the grid
  std::size_t longest = 0;
  for (const std::string& name : rowNames) longest = std::max(longest, name.size());
  return kLabel + kCharacter * static_cast<double>(longest) + 10;
}

/// What the widest number takes.
double cellWidthFor(const HeatChart& chart) {
  constexpr double kCharacter = 6.4;
  std::size_t longest = 0;
  for (const HeatPanel& panel : chart.panels) {
    for (const auto& row : panel.cells) {
      for (const std::optional<double>& share : row) {
        if (share && chart.text) longest = std::max(longest, chart.text(*share).size());
      }
    }
  }
  return kCharacter * static_cast<double>(longest) + 10;
}

void drawScale(SvgWriter& svg, const Grid& grid, const HeatChart& chart, double x) {
  constexpr int kSteps = 40;
  const double step = grid.height() / kSteps;
  for (int i = 0; i < kSteps; ++i) {
    // A little taller than its share, so that no gap shows between two.
    svg.rectangle({x, grid.top + step * (kSteps - 1 - i)}, 12, step + (i == 0 ? 0 : 0.6),
                  hex(scaleColor((i + 0.5) / kSteps)));
  }
  for (const int percent : {0, 50, 100}) {
    svg.text({x + 18, grid.top + grid.height() * (1 - percent / 100.0) + 4},
             chart.text ? chart.text(percent / 100.0) : fmt::format("{} %", percent),
             {.color = kQuiet, .size = 11});
  }
}

}  // namespace

std::string shareChartSvg(const ShareChart& chart) {
  Plot plot;
  for (const ShareSeries& series : chart.series) {
    for (const SharePoint& point : series.points) plot.xMost = std::max(plot.xMost, point.x);
  }
  SvgWriter svg(plot.left + plot.width + 40, plot.top + plot.height + 66, chart.texts.title);
  drawHead(svg, plot.left, chart.texts);
  drawLegend(svg, plot, chart);
  drawAxes(svg, plot, chart);
  for (std::size_t i = 0; i < chart.series.size(); ++i) drawSeries(svg, plot, chart.series[i], i);
  return std::move(svg).finish();
}

std::string heatChartSvg(const HeatChart& chart) {
  Grid grid;
  grid.rows = chart.rowNames.size();
  grid.columns = chart.columnNames.size();
  grid.left = std::max(grid.left, roomFor(chart.rowNames));
  if (chart.text) {
    const std::size_t columns = std::max<std::size_t>(1, grid.columns * chart.panels.size());
    // A map of few columns is no narrower than what stands above it.
    grid.cellWidth =
        std::max({grid.cellWidth, cellWidthFor(chart), kLeastMap / static_cast<double>(columns)});
  }
  const double right = grid.panelLeft(chart.panels.size());
  SvgWriter svg(right + 80, grid.top + grid.height() + 64, chart.texts.title);
  drawHead(svg, grid.left, chart.texts);
  for (std::size_t row = 0; row < grid.rows; ++row) {
    svg.text({grid.left - 10, grid.top + grid.cellHeight * (static_cast<double>(row) + 0.5) + 4},
             chart.rowNames[row], {.color = kQuiet, .size = 11, .anchor = TextAnchor::End});
  }
  for (std::size_t i = 0; i < chart.panels.size(); ++i) drawPanel(svg, grid, chart, i);
  drawScale(svg, grid, chart, right - 8);
  svg.text({(grid.left + right - grid.gap) / 2, grid.top + grid.height() + 46}, chart.texts.xLabel,
           {.color = kInk, .anchor = TextAnchor::Middle});
  svg.text({22, grid.top + grid.height() / 2}, chart.texts.yLabel,
           {.color = kInk, .anchor = TextAnchor::Middle, .turned = -90});
  return std::move(svg).finish();
}

}  // namespace spanscope::experiment
