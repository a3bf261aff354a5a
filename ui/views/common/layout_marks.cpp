// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/layout_marks.h"

#include "ui/words/metric_words.h"
#include "ui/words/tr.h"

#include <algorithm>

namespace spanscope::ui {

std::optional<trace::LayoutRole> LayoutMarks::roleOf(std::uint32_t segment, std::int32_t local) const {
  const auto own = runs.find(segment);
  if (own == runs.end()) return std::nullopt;
  const auto after =
      std::upper_bound(own->second.begin(), own->second.end(), local,
                       [](std::int32_t wanted, const trace::LayoutRun& run) { return wanted < run.begin; });
  if (after == own->second.begin()) return std::nullopt;
  const trace::LayoutRun& run = *std::prev(after);
  if (local - run.begin >= run.count) return std::nullopt;
  return run.role;
}

LayoutMarks::Counts LayoutMarks::within(std::uint32_t segment, std::int32_t begin, std::int32_t end) const {
  Counts counts;
  const auto own = runs.find(segment);
  if (own == runs.end()) return counts;
  for (const trace::LayoutRun& run : own->second) {
    const std::int32_t first = std::max(begin, run.begin);
    const std::int32_t last = std::min(end, run.begin + run.count);
    if (first >= last) continue;
    (run.role == trace::LayoutRole::Pad ? counts.pads : counts.markers) += last - first;
  }
  return counts;
}

LayoutMarks layoutMarks(const ViewInput& input, RequestId request) {
  LayoutMarks marks;
  const RequestEvents* events = input.trace->request(request);
  const auto& requests = input.state().progress().requests;
  const auto state = requests.find(request);
  if (events == nullptr || state == requests.end()) return marks;
  const trace::LayoutChosen* chosen = input.trace->layoutOf(events->run);
  if (chosen == nullptr) return marks;
  marks.layout = QString::fromStdString(chosen->layout);
  for (const std::size_t index : events->of<trace::LayoutApplied>()) {
    if (index >= input.position) break;
    const auto* applied = std::get_if<trace::LayoutApplied>(&input.trace->event(index).payload);
    if (applied == nullptr) continue;
    marks.runs.clear();
    for (const trace::LayoutRun& run : applied->runs) marks.runs[run.segment].push_back(run);
    marks.cropped = applied->cropped;
    marks.sums = metrics::layoutMetrics(*applied, state->second.segments, chosen->blockSize);
  }
  return marks;
}

QString layoutSummary(const LayoutMarks& marks) {
  if (marks.isExact()) return {};
  QStringList parts;
  for (const char* const id :
       {"padding-tokens", "padding-blocks", "delimiter-tokens", "cropped-tokens", "added-tokens"})
    parts << metricPhraseOf(id, marks.sums);
  return parts.join(tr(" · "));
}

QString roleText(trace::LayoutRole role) {
  switch (role) {
    case trace::LayoutRole::Pad:
      return QStringLiteral("·");
    case trace::LayoutRole::PlusMarker:
      return QStringLiteral("+");
    case trace::LayoutRole::CrossMarker:
      return QStringLiteral("@");
  }
  return {};
}

QString roleName(trace::LayoutRole role) {
  switch (role) {
    case trace::LayoutRole::Pad:
      return tr("padding");
    case trace::LayoutRole::PlusMarker:
      return tr("plus delimiter");
    case trace::LayoutRole::CrossMarker:
      return tr("cross delimiter");
  }
  return {};
}

}  // namespace spanscope::ui
