// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/document_spans.h"

#include "engine/base/error.h"
#include "engine/layout/layout.h"
#include "engine/plan/planner.h"
#include "engine/query/query.h"

#include <algorithm>
#include <utility>

namespace spanscope::workbench {
namespace {

using query::Node;

Node message(std::string text) {
  return {query::Message{.role = query::Role::User, .text = std::move(text)}};
}

/// The smallest query with the document under plus, with or without a message before it.
Node queryWith(const std::string& text, bool isFirst) {
  query::Join plus{.kind = query::JoinKind::Plus, .children = {message(text)}};
  query::Join cross{.kind = query::JoinKind::Cross, .children = {}};
  if (!isFirst) cross.children.push_back(message("."));
  cross.children.push_back(Node{std::move(plus)});
  cross.children.push_back(message("."));
  query::Generate generate;
  generate.settings.maxTokens = 1;
  generate.input = Node{std::move(cross)};
  return Node{std::move(generate)};
}

}  // namespace

std::vector<layout::SpanTable> documentSpans(const std::string& text, const text::Tokenizer& tokenizer,
                                             const text::ChatTemplate& chat, layout::Layout layout,
                                             std::int32_t blockSize) {
  layout::MessageRenderer renderer(tokenizer, chat);
  renderer.useLayout(layout, blockSize);
  std::vector<layout::SpanTable> spans;
  for (const bool isFirst : {false, true}) {
    const plan::PlanResult planned = plan::makePlan(queryWith(text, isFirst), {});
    if (!planned.plan) throw Failure(planned.problems.front());
    const layout::SpanTable table =
        layout::layOut(planned.plan->steps.front(), {}, renderer, layout::Visibility::Spans);
    for (const layout::Segment& segment : table.segments) {
      if (!segment.independent || segment.tokens.empty()) continue;
      layout::SpanTable span;
      span.segments.push_back(segment);
      span.segments.front().base = 0;
      span.segments.front().scope = 0;
      span.segments.front().depth = 0;
      const bool isKnown = std::any_of(spans.begin(), spans.end(), [&](const layout::SpanTable& other) {
        return other.segments.front().tokens == segment.tokens;
      });
      if (!isKnown) spans.push_back(std::move(span));
    }
  }
  return spans;
}

}  // namespace spanscope::workbench
