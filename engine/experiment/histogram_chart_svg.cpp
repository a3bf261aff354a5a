// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/counted.h"
#include "engine/experiment/chart_inks.h"
#include "engine/experiment/chart_svg.h"
#include "engine/experiment/svg_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace spanscope::experiment {
namespace {

constexpr const char* kBar = "#0072b2";
constexpr double kLeft = 70;
constexpr double kTop = 70;
constexpr double kWidth = 590;
constexpr double kTitle = 24;
constexpr double kHeight = 72;
constexpr double kGap = 12;
constexpr double kZero = 26;  ///< of the bar of zeros, and as much again beside it

}  // namespace

std::string chartSvg(const HistogramChart& chart) {
  if (chart.edges.empty()) return {};
  const auto parts = static_cast<double>(chart.parts.size());
  const double bottom = kTop + parts * (kTitle + kHeight + kGap) - kGap;
  SvgWriter svg(kLeft + kWidth + 40, bottom + 66, chart.texts.title);
  svg.text({kLeft, 28}, chart.texts.title, {.color = kInk, .size = 16, .bold = true});
  svg.text({kLeft, 47}, chart.texts.subtitle, {.color = kQuiet, .size = 11});
  const double axis = kLeft + (chart.hasZeros ? 2 * kZero : 0);
  const double room = kLeft + kWidth - axis;
  double top = kTop;
  const double most = chart.highestShare();
  for (const Histogram& part : chart.parts) {
    svg.text({kLeft, top + 15}, part.series, {.color = kInk, .bold = true});
    svg.text({kLeft + kWidth, top + 15},
             counted(part.total, "sample") + ", median " + shortNumber(part.median),
             {.color = kQuiet, .size = 11, .anchor = TextAnchor::End});
    const double ground = top + kTitle + kHeight;
    for (const ChartTick& tick : chart.ticks)
      svg.line({axis + room * tick.at, top + kTitle}, {axis + room * tick.at, ground}, {.color = kGrid});
    const double width = room / static_cast<double>(chart.edges.size() - 1);
    for (std::size_t bar = 0; bar < chart.bars(); ++bar) {
      const double height = kHeight * (most > 0 ? chart.shareOf(part, bar) / most : 0);
      if (height <= 0) continue;
      const bool isZero = chart.isZeroBar(bar);
      svg.rectangle({isZero ? kLeft : axis + width * static_cast<double>(chart.binOf(bar)), ground - height},
                    isZero ? kZero : std::max(1.0, width - 1), height, kBar);
    }
    svg.line({kLeft, ground}, {kLeft + kWidth, ground}, {.color = kQuiet});
    svg.line({kLeft, top + kTitle}, {kLeft + kWidth, top + kTitle}, {.color = kGrid});
    svg.text({kLeft - 10, top + kTitle + 4}, fmt::format("{:.0f} %", 100 * most),
             {.color = kQuiet, .size = 11, .anchor = TextAnchor::End});
    svg.text({kLeft - 10, ground + 4}, "0", {.color = kQuiet, .size = 11, .anchor = TextAnchor::End});
    top = ground + kGap;
  }
  for (const ChartTick& tick : chart.ticks)
    svg.text({axis + room * tick.at, bottom + 18}, tick.text,
             {.color = kQuiet, .size = 11, .anchor = TextAnchor::Middle});
  if (chart.hasZeros)
    svg.text({kLeft + kZero / 2, bottom + 18}, "0",
             {.color = kQuiet, .size = 11, .anchor = TextAnchor::Middle});
  svg.text({kLeft + kWidth / 2, bottom + 44}, chart.texts.xLabel,
           {.color = kInk, .anchor = TextAnchor::Middle});
  svg.text({18, (kTop + bottom) / 2}, chart.texts.yLabel,
           {.color = kInk, .anchor = TextAnchor::Middle, .turned = -90});
  return std::move(svg).finish();
}

}  // namespace spanscope::experiment
