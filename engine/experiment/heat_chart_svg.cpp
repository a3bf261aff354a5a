// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/chart_inks.h"
#include "engine/experiment/chart_svg.h"
#include "engine/experiment/svg_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

namespace spanscope::experiment {
namespace {

constexpr const char* kNoValue = "#f0f1f4";
constexpr double kLeastMap = 560;

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
  const HeatMapPanel& panel = chart.panels[index];
  const double left = grid.panelLeft(index);
  svg.text({left, grid.top - 10}, panel.title, {.color = kInk, .bold = true});
  for (std::size_t row = 0; row < panel.cells.size(); ++row) {
    for (std::size_t column = 0; column < panel.cells[row].size(); ++column) {
      const SvgPoint at{left + grid.cellWidth * static_cast<double>(column),
                        grid.top + grid.cellHeight * static_cast<double>(row)};
      const std::optional<HeatMapCell>& cell = panel.cells[row][column];
      const Color color = scaleColor(cell ? cell->shade : 0);
      svg.rectangle(at, grid.cellWidth - 1, grid.cellHeight - 1, cell ? hex(color) : kNoValue);
      svg.text({at.x + (grid.cellWidth - 1) / 2, at.y + grid.cellHeight / 2 + 4}, cell ? cell->text : "–",
               {.color = cell ? inkOn(color) : kQuiet, .size = 11, .anchor = TextAnchor::Middle});
    }
  }
  for (std::size_t column = 0; column < chart.columns.size(); ++column) {
    svg.text({left + grid.cellWidth * (static_cast<double>(column) + 0.5), grid.top + grid.height() + 17},
             chart.columns[column], {.color = kQuiet, .size = 11, .anchor = TextAnchor::Middle});
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
  for (const HeatMapPanel& panel : chart.panels) {
    for (const auto& row : panel.cells) {
      for (const std::optional<HeatMapCell>& cell : row)
        longest = std::max(longest, cell ? cell->text.size() : 0);
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
  for (const ChartTick& tick : chart.scale)
    svg.text({x + 18, grid.top + grid.height() * (1 - tick.at) + 4}, tick.text,
             {.color = kQuiet, .size = 11});
}

}  // namespace

std::string chartSvg(const HeatChart& chart) {
  Grid grid;
  grid.rows = chart.rows.size();
  grid.columns = chart.columns.size();
  grid.left = std::max(grid.left, roomFor(chart.rows));
  if (chart.isSpread) {
    const std::size_t columns = std::max<std::size_t>(1, grid.columns * chart.panels.size());
    // A map of few columns is no narrower than what stands above it.
    grid.cellWidth =
        std::max({grid.cellWidth, cellWidthFor(chart), kLeastMap / static_cast<double>(columns)});
  }
  const double right = grid.panelLeft(chart.panels.size());
  SvgWriter svg(right + 80, grid.top + grid.height() + 64, chart.texts.title);
  svg.text({grid.left, 30}, chart.texts.title, {.color = kInk, .size = 16, .bold = true});
  svg.text({grid.left, 50}, chart.texts.subtitle, {.color = kQuiet, .size = 12});
  for (std::size_t row = 0; row < grid.rows; ++row) {
    svg.text({grid.left - 10, grid.top + grid.cellHeight * (static_cast<double>(row) + 0.5) + 4},
             chart.rows[row], {.color = kQuiet, .size = 11, .anchor = TextAnchor::End});
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
