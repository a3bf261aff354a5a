// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/chart.h"

#include "engine/base/counted.h"
#include "engine/base/utf8.h"
#include "engine/trace/line_pieces.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace spanscope::experiment {

HeatMapCell shareCell(double share) {
  return {.number = {.value = 100 * share, .low = 100 * share, .high = 100 * share},
          .shade = share,
          .text = trace::shareNumber(share)};
}

std::vector<ChartTick> shareScale() {
  return {{.at = 0, .text = "0 %"}, {.at = 0.5, .text = "50 %"}, {.at = 1, .text = "100 %"}};
}

double HistogramChart::shareOf(const Histogram& part, std::size_t bar) const {
  return part.total == 0 ? 0 : static_cast<double>(countOf(part, bar)) / static_cast<double>(part.total);
}

double HistogramChart::highestShare() const {
  double most = 0;
  for (const Histogram& part : parts) {
    for (std::size_t bar = 0; bar < bars(); ++bar) most = std::max(most, shareOf(part, bar));
  }
  return most;
}

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

ChartAxis roundAxis(double low, double high, bool wantsLogarithm) {
  ChartAxis axis{.isLogarithmic = wantsLogarithm && low > 0, .ticks = {}};
  if (axis.isLogarithmic) {
    axis.low = std::exp2(std::floor(std::log2(low)));
    axis.high = std::exp2(std::ceil(std::log2(high)));
    if (axis.high <= axis.low) axis.high = 2 * axis.low;
  } else {
    const std::vector<double> ticks = axisTicks(0, high, false);
    axis.high = ticks.empty() || ticks.back() <= 0 ? 1 : ticks.back();
  }
  for (const double tick : axisTicks(axis.low, axis.high, axis.isLogarithmic))
    axis.ticks.push_back({.at = tick, .text = fmt::format("{:g}", tick)});
  return axis;
}

ChartAxis placesAxis(std::vector<double> places, bool wantsLogarithm) {
  if (places.empty()) return {};
  std::ranges::sort(places);
  places.erase(std::unique(places.begin(), places.end()), places.end());
  ChartAxis axis = roundAxis(places.front(), places.back(), wantsLogarithm);
  axis.ticks.clear();
  for (const double place : places) axis.ticks.push_back({.at = place, .text = fmt::format("{:g}", place)});
  return axis;
}

ChartAxis shareAxis() {
  constexpr int kSteps = 4;
  ChartAxis axis;
  for (int i = 0; i <= kSteps; ++i) {
    const double share = static_cast<double>(i) / kSteps;
    axis.ticks.push_back({.at = share, .text = fmt::format("{:.0f} %", share * 100)});
  }
  return axis;
}

std::vector<ChartTick> histogramTicks(const HistogramChart& chart) {
  constexpr int kMost = 8;
  std::vector<ChartTick> ticks;
  if (chart.edges.size() < 2) return ticks;
  const auto add = [&ticks](double at, double value) {
    ticks.push_back({.at = at, .text = shortNumber(value)});
  };
  const double low = chart.edges.front();
  const double high = chart.edges.back();
  if (chart.isLogarithmic) {
    const int first = static_cast<int>(std::ceil(std::log10(low)));
    const int last = static_cast<int>(std::floor(std::log10(high)));
    const int stride = std::max(1, (last - first + kMost) / kMost);
    for (int power = first; power <= last; power += stride) {
      const double value = std::pow(10, power);
      add(std::log(value / low) / std::log(high / low), value);
    }
    return ticks;
  }
  const std::vector<double> round = axisTicks(0, high - low, false);
  const double stride = round.size() > 1 ? round[1] - round[0] : high - low;
  for (double value = std::ceil(low / stride) * stride; value <= high + stride * 1e-9; value += stride)
    add((value - low) / (high - low), std::abs(value) < stride * 1e-9 ? 0 : value);
  return ticks;
}

std::string shortNumber(double value) {
  const double size = std::abs(value);
  if (size == 0) return "0";
  if (size >= 1e6 || size < 1e-3) {
    std::string text = fmt::format("{:.1e}", value);
    if (const std::size_t tenth = text.find(".0e"); tenth != std::string::npos) text.erase(tenth, 2);
    return text;
  }
  if (size >= 99.95) return fmt::format("{:.0f}", value);
  std::string text = fmt::format("{:.{}f}", value, size >= 9.995 ? 1 : size >= 0.0995 ? 2 : 4);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

struct SvgPoint {
  double x = 0;
  double y = 0;
};

/// The look of a line: a colour ("#0072b2"), a width, and a dash pattern ("6 3"; empty: solid).
struct Stroke {
  std::string color;
  double width = 1;
  std::string dash{};
};

enum class TextAnchor { Start, Middle, End };

struct TextStyle {
  std::string color = "#1f2430";
  double size = 12;
  TextAnchor anchor = TextAnchor::Start;
  bool bold = false;
  double turned = 0;  ///< degrees, clockwise around its own place
};

/// A picture as SVG 1.1 text. All lengths are pixels; y grows downwards. Texts are escaped.
class SvgWriter {
 public:
  /// The background is white, so that the picture is readable on any page. Screen readers read `title`.
  SvgWriter(double width, double height, std::string_view title);

  void rectangle(SvgPoint topLeft, double width, double height, std::string_view fill);
  void line(SvgPoint from, SvgPoint to, const Stroke& stroke);
  void polyline(const std::vector<SvgPoint>& points, const Stroke& stroke);
  void polygon(const std::vector<SvgPoint>& points, std::string_view fill);
  void circle(SvgPoint center, double radius, std::string_view fill);
  /// The base line of the text begins at `at`, has its middle there, or ends there.
  void text(SvgPoint at, std::string_view text, const TextStyle& style);

  /// The whole picture, with a newline at the end.
  std::string finish() &&;

 private:
  std::string m_text;
};

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

inline constexpr const char* kInk = "#1f2430";
inline constexpr const char* kQuiet = "#5b6472";
inline constexpr const char* kGrid = "#e3e6eb";

namespace {

constexpr double kLeft = 78;
constexpr double kWidth = 600;
constexpr double kHeight = 300;
constexpr double kRowOfLegend = 20;

struct SeriesLook {
  const char* color;
  const char* dash;
};
/// Okabe and Ito's palette. Dashes distinguish the lines without colour.
constexpr std::array kLooks = {SeriesLook{"#0072b2", ""},         SeriesLook{"#d55e00", "8 4"},
                               SeriesLook{"#009e73", "2 3"},      SeriesLook{"#cc79a7", "10 3 2 3"},
                               SeriesLook{"#000000", "1 4"},      SeriesLook{"#56b4e9", "6 2"},
                               SeriesLook{"#a06a00", "12 4 4 4"}, SeriesLook{"#5b3fa0", "3 6"}};

const SeriesLook& lookOf(std::size_t series) {
  return kLooks[series % kLooks.size()];
}

/// Each series has another shape: circle, square, triangle, diamond, then circle again.
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

/// An axis and its place.
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
    if (at - last < 26) continue;  // the next number would touch this number
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
      line.push_back({x.at(point.x), y.at(point.number.value)});
      svg.line({line.back().x, y.at(point.number.low)}, {line.back().x, y.at(point.number.high)},
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

namespace {

constexpr const char* kNoValue = "#f0f1f4";
constexpr double kLeastMap = 560;

using Color = std::array<double, 3>;

/// Viridis at nine places. Equal steps of the value look equal, also in grey and for colour-blind readers.
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

/// Returns black or white, whichever is easier to read on this colour.
const char* inkOn(const Color& color) {
  const double luma = 0.299 * color[0] + 0.587 * color[1] + 0.114 * color[2];
  return luma > 130 ? "#000000" : "#ffffff";
}

/// The place and the size of the grids.
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

/// Returns the width of the row names on the left, including the label of the axis.
double roomFor(const std::vector<std::string>& rowNames) {
  constexpr double kLabel = 34;
  constexpr double kCharacter = 6.2;  // mean width at this size; wider names extend into the gap before the
                                      // grid
  std::size_t longest = 0;
  for (const std::string& name : rowNames) longest = std::max(longest, name.size());
  return kLabel + kCharacter * static_cast<double>(longest) + 10;
}

/// Returns the width that the widest number needs.
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
    // A little taller than its share, so that no gap is visible between two rectangles.
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
    // A map with few columns is at least as wide as the texts above it.
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

namespace {

constexpr const char* kBar = "#0072b2";
constexpr double kBarsLeft = 70;
constexpr double kBarsTop = 70;
constexpr double kBarsWidth = 590;
constexpr double kBarsTitle = 24;
constexpr double kBarsHeight = 72;
constexpr double kGap = 12;
constexpr double kZero = 26;  ///< width of the bar of zeros, and of the gap beside it

}  // namespace

std::string chartSvg(const HistogramChart& chart) {
  if (chart.edges.empty()) return {};
  const auto parts = static_cast<double>(chart.parts.size());
  const double bottom = kBarsTop + parts * (kBarsTitle + kBarsHeight + kGap) - kGap;
  SvgWriter svg(kBarsLeft + kBarsWidth + 40, bottom + 66, chart.texts.title);
  svg.text({kBarsLeft, 28}, chart.texts.title, {.color = kInk, .size = 16, .bold = true});
  svg.text({kBarsLeft, 47}, chart.texts.subtitle, {.color = kQuiet, .size = 11});
  const double axis = kBarsLeft + (chart.hasZeros ? 2 * kZero : 0);
  const double room = kBarsLeft + kBarsWidth - axis;
  double top = kBarsTop;
  const double most = chart.highestShare();
  for (const Histogram& part : chart.parts) {
    svg.text({kBarsLeft, top + 15}, part.series, {.color = kInk, .bold = true});
    svg.text({kBarsLeft + kBarsWidth, top + 15},
             counted(part.total, "sample") + ", median " + shortNumber(part.median),
             {.color = kQuiet, .size = 11, .anchor = TextAnchor::End});
    const double ground = top + kBarsTitle + kBarsHeight;
    for (const ChartTick& tick : chart.ticks)
      svg.line({axis + room * tick.at, top + kBarsTitle}, {axis + room * tick.at, ground}, {.color = kGrid});
    const double width = room / static_cast<double>(chart.edges.size() - 1);
    for (std::size_t bar = 0; bar < chart.bars(); ++bar) {
      const double height = kBarsHeight * (most > 0 ? chart.shareOf(part, bar) / most : 0);
      if (height <= 0) continue;
      const bool isZero = chart.isZeroBar(bar);
      svg.rectangle(
          {isZero ? kBarsLeft : axis + width * static_cast<double>(chart.binOf(bar)), ground - height},
          isZero ? kZero : std::max(1.0, width - 1), height, kBar);
    }
    svg.line({kBarsLeft, ground}, {kBarsLeft + kBarsWidth, ground}, {.color = kQuiet});
    svg.line({kBarsLeft, top + kBarsTitle}, {kBarsLeft + kBarsWidth, top + kBarsTitle}, {.color = kGrid});
    svg.text({kBarsLeft - 10, top + kBarsTitle + 4}, fmt::format("{:.0f} %", 100 * most),
             {.color = kQuiet, .size = 11, .anchor = TextAnchor::End});
    svg.text({kBarsLeft - 10, ground + 4}, "0", {.color = kQuiet, .size = 11, .anchor = TextAnchor::End});
    top = ground + kGap;
  }
  for (const ChartTick& tick : chart.ticks)
    svg.text({axis + room * tick.at, bottom + 18}, tick.text,
             {.color = kQuiet, .size = 11, .anchor = TextAnchor::Middle});
  if (chart.hasZeros)
    svg.text({kBarsLeft + kZero / 2, bottom + 18}, "0",
             {.color = kQuiet, .size = 11, .anchor = TextAnchor::Middle});
  svg.text({kBarsLeft + kBarsWidth / 2, bottom + 44}, chart.texts.xLabel,
           {.color = kInk, .anchor = TextAnchor::Middle});
  svg.text({18, (kBarsTop + bottom) / 2}, chart.texts.yLabel,
           {.color = kInk, .anchor = TextAnchor::Middle, .turned = -90});
  return std::move(svg).finish();
}

}  // namespace spanscope::experiment
