// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/policy/link/link.h"

#include "engine/base/translation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace spanscope::policy {

namespace {

constexpr std::array<Parameter, 1> kParameters{
    {{.name = "n",
      .label = forTranslation("Policies", /*id:tokens-each-document*/ "recomputed tokens per document"),
      .help = forTranslation("Policies",
                             "Number of tokens at the beginning of each document that are recomputed with "
                             "attention to all earlier text"),
      .standard = 16,
      .least = 0,
      .most = 1'000'000,
      .isWhole = true,
      .hasAll = true}}};

const char* exactnessAt(std::span<const double> values) {
  if (values[0] == 0) return "block attention ✓ · full prefill ≈";
  return std::isinf(values[0]) ? "full prefill ✓" : nullptr;
}

layout::SpanTable layOut(const plan::Step& step, std::span<const layout::StepOutput> outputs,
                         layout::MessageRenderer& renderer, std::span<const double> values) {
  const layout::SpanTable spans = layout::layOut(step, outputs, renderer, layout::Visibility::Spans);
  return linkedTable(spans, std::isinf(values[0]) ? kWholeDocuments : static_cast<std::int32_t>(values[0]));
}

}  // namespace

constinit const Policy kLink = {
    .name = "link",
    .brief = forTranslation("Policies", "spans, n tokens of each document recomputed; for other models"),
    .help = forTranslation("Policies",
                           "Like spans, but recomputes the first n tokens of each document. These tokens "
                           "attend to all earlier text"),
    .asIn = "EPIC",
    .exactness = "full prefill ≈",
    .hasIndependentSpans = true,
    .parameters = kParameters,
    .exactnessAt = &exactnessAt,
    .layOut = &layOut};

namespace {

using layout::Segment;
using layout::SpanTable;
using layout::TokenRun;

/// The changes to a segment of the original table.
struct Fate {
  std::int32_t linked = 0;  ///< number of first visible tokens that the link replaces
  bool hasRest = false;     ///< whether more visible tokens are left
  bool isRead = false;      ///< whether a segment without a link reads all of its tokens
};

/// Returns the runs of the tokens at positions begin … end − 1 of the segment.
std::vector<TokenRun> cut(const std::vector<TokenRun>& runs, std::int32_t begin, std::int32_t end) {
  std::vector<TokenRun> part;
  std::int32_t at = 0;
  for (const TokenRun& run : runs) {
    const std::int32_t from = std::max(at, begin);
    const std::int32_t to = std::min(at + run.count, end);
    if (from < to)
      part.push_back({.count = to - from, .source = run.source, .node = run.node, .part = run.part});
    at += run.count;
  }
  return part;
}

class Linking {
 public:
  Linking(const SpanTable& spans, std::int32_t count) : m_spans(spans), m_fates(spans.segments.size()) {
    bool hasView = false;
    for (std::size_t i = 0; i < m_fates.size(); ++i) {
      const Segment& segment = spans.segments[i];
      const std::int32_t visible = segment.hidden ? 0 : segment.length() - segment.visibleBegin;
      if (visible > 0 && hasView && !isOuter(segment)) m_fates[i].linked = std::min(count, visible);
      m_fates[i].hasRest = visible > m_fates[i].linked;
      hasView = hasView || visible > 0;
    }
    for (std::size_t i = m_fates.size(); i-- > 0;) {
      // The outermost scope reads the linked tokens instead of the original tokens.
      if (isOuter(spans.segments[i]) || !isComputed(i)) continue;
      for (const std::uint32_t seen : spans.segments[i].sees) m_fates[seen].isRead = true;
    }
  }

  SpanTable table() {
    m_table.parts = m_spans.parts;
    m_table.cropped = m_spans.cropped;
    for (std::size_t i = 0; i < m_fates.size(); ++i) {
      const Segment& segment = m_spans.segments[i];
      const Fate& fate = m_fates[i];
      m_unlinked.emplace_back();
      if (!isComputed(i) && fate.linked == 0) continue;
      if (fate.linked == 0) {
        m_unlinked.back() = add(withView(segment));
        if (!segment.hidden) m_view.push_back(*m_unlinked.back());
        continue;
      }
      const std::int32_t end = segment.visibleBegin + fate.linked;
      if (fate.isRead) {
        Segment whole = withView(segment);
        whole.hidden = true;
        m_unlinked.back() = add(std::move(whole));
      }
      Segment link = segment;
      link.independent = false;
      link.tokens.assign(segment.tokens.begin() + segment.visibleBegin, segment.tokens.begin() + end);
      link.base = segment.base + segment.visibleBegin;
      link.visibleBegin = 0;
      link.sees = m_view;
      link.runs = cut(segment.runs, segment.visibleBegin, end);
      const std::uint32_t linkIndex = add(std::move(link));
      m_view.push_back(linkIndex);
      if (!fate.hasRest) continue;
      Segment rest = withView(segment);
      rest.visibleBegin = end;
      m_view.push_back(add(std::move(rest)));
    }
    return std::move(m_table);
  }

 private:
  /// Whether the segment is in the outermost scope, and therefore attends to the whole prompt before it.
  static bool isOuter(const Segment& segment) { return segment.scope == 0 && !segment.hidden; }

  /// Whether the keys and values of the original segment are needed.
  bool isComputed(std::size_t index) const {
    const Fate& fate = m_fates[index];
    return fate.hasRest || fate.isRead;
  }

  /// Returns a copy that attends to the same tokens as the original. In the outermost scope, the copy attends
  /// to the tokens of the view so far. Elsewhere the copy attends to the unlinked segments.
  Segment withView(const Segment& segment) const {
    Segment copy = segment;
    if (isOuter(segment)) {
      copy.sees = m_view;
      return copy;
    }
    for (std::uint32_t& seen : copy.sees) seen = *m_unlinked[seen];
    return copy;
  }

  std::uint32_t add(Segment segment) {
    m_table.segments.push_back(std::move(segment));
    return static_cast<std::uint32_t>(m_table.segments.size() - 1);
  }

  const SpanTable& m_spans;
  std::vector<Fate> m_fates;
  SpanTable m_table;
  std::vector<std::optional<std::uint32_t>>
      m_unlinked;                     ///< by original segment: place of the unlinked segment, if there is one
  std::vector<std::uint32_t> m_view;  ///< the segments that the prompt attends to so far, in prompt order
};

}  // namespace

SpanTable linkedTable(const SpanTable& spans, std::int32_t count) {
  return count <= 0 ? spans : Linking(spans, count).table();
}

}  // namespace spanscope::policy
