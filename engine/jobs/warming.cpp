// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/jobs/warming.h"

#include "engine/base/error.h"
#include "engine/layout/layout.h"
#include "engine/layout/layouts.h"
#include "engine/layout/span_table.h"
#include "engine/plan/planner.h"
#include "engine/query/query.h"
#include "engine/run/session.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"
#include "engine/workbench/model_bundle.h"
#include "engine/workbench/service/job_context.h"
#include "engine/workbench/setting_choices.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::jobs {

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

/// The spans that a document becomes in a query that has the document's text as a user message under plus. A
/// document becomes two spans if the chat template writes the first message of a conversation differently.
/// Otherwise a document becomes one span. Each span is a separate prompt in the given layout and block size.
/// The span is padded if a delimiter follows. Throws Failure if the text cannot be encoded.
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
      const bool isKnown = std::ranges::any_of(spans, [&](const layout::SpanTable& other) {
        return other.segments.front().tokens == segment.tokens;
      });
      if (!isKnown) spans.push_back(std::move(span));
    }
  }
  return spans;
}

/// Returns nothing when warming is stopped.
std::optional<WarmedDocument> warm(const std::string& document, const Measurement& at) {
  WarmedDocument warmed;
  try {
    const std::string text = at.input().read(document);
    const auto begin = std::chrono::steady_clock::now();
    const workbench::ModelBundle& model = at.model();
    run::Session& session = at.place().openSession();
    const layout::Layout layout = workbench::layoutOf(at.input().settings.layout);
    for (const layout::SpanTable& span :
         documentSpans(text, *model.tokenizer, *model.chat, layout, session.config().blockSize)) {
      const run::LogitsResult result = session.logits({.table = span}, at.stop());
      warmed.tokens += span.tokenCount();
      // The last token of a prompt is always computed.
      const bool wasThere = span.tokenCount() > 1 && result.cachedTokens + 1 == span.tokenCount();
      warmed.storedTokens += wasThere ? span.tokenCount() : result.cachedTokens;
    }
    warmed.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  } catch (const Failure& failure) {
    if (at.stop().stop_requested()) return std::nullopt;
    warmed.problem = failure.what();
  }
  return warmed;
}

}  // namespace

double WarmingJob::progress(const Warming& warming) {
  return static_cast<double>(warming.warmed.size()) /
         static_cast<double>(std::max<std::size_t>(1, warming.documents.size()));
}

trace::EventWords WarmingJob::activity(const Warming& warming) {
  const std::uint64_t all = warming.documents.size();
  return {forTranslation("Events", "Computing document %1 of %2"),
          {std::min<std::uint64_t>(warming.warmed.size() + 1, all), all}};
}

void WarmingJob::measure(Warming& warming, const WarmingChoice& choice, Measurement& at) {
  run::Session& session = at.place().sessionFor(at.input().settings, at.stop());
  for (const std::string& document : choice.documents) {
    if (at.stop().stop_requested()) break;
    if (std::optional<WarmedDocument> one = warm(document, at)) warming.warmed.push_back(std::move(*one));
    session.startKeeping();
    at.report();
  }
  session.keepAll(at.stop());
}

}  // namespace spanscope::jobs
