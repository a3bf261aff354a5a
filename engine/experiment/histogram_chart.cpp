// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/histogram_chart.h"

#include "engine/experiment/svg_writer.h"

#include <algorithm>
#include <utility>

namespace spanscope::experiment {
namespace {

constexpr const char* kInk = "#1f2430";
constexpr const char* kQuiet = "#5b6472";
constexpr const char* kGrid = "#e3e6eb";
constexpr const char* kBar = "#0072b2";
constexpr double kLeft = 70;
constexpr double kTop = 70;
constexpr double kWidth = 590;
constexpr double kTitle = 24;
constexpr double kHeight = 72;
constexpr double kGap = 12;
constexpr double kZero = 26;  ///< of the bar of zeros, and as much again beside it

}  // namespace

std::string histogramChartSvg(const HistogramChart& chart) {
  const auto parts = static_cast<double>(chart.parts.size());
  const double bottom = kTop + parts * (kTitle + kHeight + kGap) - kGap;
  SvgWriter svg(kLeft + kWidth + 40, bottom + 66, chart.texts.title);
  svg.text({kLeft, 28}, chart.texts.title, {.color = kInk, .size = 16, .bold = true});
  svg.text({kLeft, 47}, chart.texts.subtitle, {.color = kQuiet, .size = 11});
  const double axis = kLeft + (chart.hasZeros ? 2 * kZero : 0);
  const double room = kLeft + kWidth - axis;
  double top = kTop;
  for (const HistogramPart& part : chart.parts) {
    svg.text({kLeft, top + 15}, part.title, {.color = kInk, .bold = true});
    svg.text({kLeft + kWidth, top + 15}, part.subtitle,
             {.color = kQuiet, .size = 11, .anchor = TextAnchor::End});
    const double ground = top + kTitle + kHeight;
    for (const AxisMark& mark : chart.marks)
      svg.line({axis + room * mark.place, top + kTitle}, {axis + room * mark.place, ground},
               {.color = kGrid});
    const std::size_t first = chart.hasZeros ? 1 : 0;
    const double width = room / static_cast<double>(std::max<std::size_t>(1, part.bars.size() - first));
    for (std::size_t i = 0; i < part.bars.size(); ++i) {
      const double height = kHeight * part.bars[i];
      if (height <= 0) continue;
      const bool isZero = i < first;
      svg.rectangle({isZero ? kLeft : axis + width * static_cast<double>(i - first), ground - height},
                    isZero ? kZero : std::max(1.0, width - 1), height, kBar);
    }
    svg.line({kLeft, ground}, {kLeft + kWidth, ground}, {.color = kQuiet});
    svg.line({kLeft, top + kTitle}, {kLeft + kWidth, top + kTitle}, {.color = kGrid});
    svg.text({kLeft - 10, top + kTitle + 4}, chart.most,
             {.color = kQuiet, .size = 11, .anchor = TextAnchor::End});
    svg.text({kLeft - 10, ground + 4}, "0", {.color = kQuiet, .size = 11, .anchor = TextAnchor::End});
    top = ground + kGap;
  }
  for (const AxisMark& mark : chart.marks)
    svg.text({axis + room * mark.place, bottom + 18}, mark.text,
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
