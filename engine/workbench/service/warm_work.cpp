// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/service/warm_work.h"

#include "engine/base/error.h"
#include "engine/run/session.h"
#include "engine/workbench/document_spans.h"
#include "engine/workbench/model_bundle.h"
#include "engine/workbench/service/workplace.h"
#include "engine/workbench/setting_values.h"

#include <chrono>
#include <utility>

namespace spanscope::workbench {

WarmWork::WarmWork(RunSettings settings, std::vector<WarmText> documents)
    : m_settings(std::move(settings)), m_documents(std::move(documents)) {}

Begun WarmWork::begin(Workplace& place, const std::stop_token& stop) {
  run::Session& session = place.sessionFor(m_settings, stop);
  std::vector<WarmedDocument> warmed;
  for (std::size_t i = 0; i < m_documents.size() && !stop.stop_requested(); ++i) {
    if (std::optional<WarmedDocument> one = warm(i, place, stop)) warmed.push_back(std::move(*one));
    session.startKeeping();
    m_warmed.set(warmed);
    tellProgress();
  }
  session.keepAll(stop);
  return Begun::Done;
}

/// Nothing: it was stopped.
std::optional<WarmedDocument> WarmWork::warm(std::size_t index, Workplace& place,
                                             const std::stop_token& stop) const {
  WarmedDocument warmed{.document = index};
  try {
    const std::string text = m_documents[index]();
    const auto begin = std::chrono::steady_clock::now();
    const ModelBundle& model = *place.model();
    run::Session& session = place.openSession();
    for (const layout::SpanTable& span : documentSpans(
             text, *model.tokenizer, *model.chat, layoutOf(m_settings.layout), session.config().blockSize)) {
      const run::LogitsResult result = session.logits({.table = span}, stop);
      warmed.tokens += span.tokenCount();
      // A prompt's last token is computed whatever is stored.
      const bool wasThere = span.tokenCount() > 1 && result.cachedTokens + 1 == span.tokenCount();
      warmed.storedTokens += wasThere ? span.tokenCount() : result.cachedTokens;
    }
    warmed.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  } catch (const Failure& failure) {
    if (stop.stop_requested()) return std::nullopt;
    warmed.problem = failure.what();
  }
  return warmed;
}

}  // namespace spanscope::workbench
