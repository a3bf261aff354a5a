// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/watch_source.h"

#include "ui/words/metric_words.h"
#include "ui/words/tr.h"

#include <QLocale>
#include <QStringList>

#include <utility>
#include <variant>

namespace spanscope::ui {

WatchSource::WatchSource(watch::WatchConfig config, const std::string& file)
    : StreamedSource(std::make_shared<trace::Recorder>(watch::recorderOptions(config)), file),
      m_hasTexts(config.tokenizer != nullptr),
      m_hasBlocks(!config.publishers.empty()),
      m_watch(std::make_unique<watch::Watch>(std::move(config), recorder())) {}

ReportedFacts WatchSource::reports() const {
  ReportedFacts facts;
  for (const Fact fact : {Fact::TokenTimes, Fact::Passes, Fact::Attention})
    facts.set(fact, Reporting::CannotBeReported);
  const bool hasBlocks = m_hasBlocks || m_state.tasks > 0 || m_hasSlots;
  if (!m_hasTexts) facts.set(Fact::TokenTexts, Reporting::CannotBeReported);
  if (!m_hasBlocks) facts.set(Fact::Prompts, Reporting::CannotBeReported);
  if (!hasBlocks) {
    facts.set(Fact::Pool, Reporting::CannotBeReported);
    facts.set(Fact::BlockLookups, Reporting::CannotBeReported);
  }
  // Sequences of blocks are not requests, so only the slots of a server have times.
  if (m_hasBlocks || !hasBlocks) facts.set(Fact::StepTimes, Reporting::CannotBeReported);
  if (!m_state.tokens && m_state.tasks == 0) facts.set(Fact::CachedTokens, Reporting::CannotBeReported);
  return facts;
}

void WatchSource::refresh() {
  if (m_watch) m_state = m_watch->state();
}

void WatchSource::take(const trace::Event& event) {
  const auto* started = std::get_if<trace::SessionStarted>(&event.payload);
  if (started != nullptr && !m_hasBlocks && !started->pool.blocks.empty()) m_hasSlots = true;
}

void WatchSource::stop() {
  if (!m_watch) return;
  refresh();
  m_watch.reset();
  drain();
  finishFile();
}

QString WatchSource::stateText() const {
  if (m_state.hasEnded) return tr("The watch has ended");
  QStringList parts{m_state.server.empty() ? tr("connecting…") : QString::fromStdString(m_state.server)};
  if (m_hasBlocks) {
    parts += tr("%1 events").arg(QLocale().toString(static_cast<qulonglong>(m_state.events)));
    parts += metricPhrase("cached-blocks", static_cast<double>(m_state.cached));
    if (m_state.unknown > 0) parts += tr("%1 with unknown content").arg(m_state.unknown);
  }
  if (m_state.tasks > 0) parts += tr("%1 requests").arg(m_state.tasks);
  if (m_state.tokens && m_state.tokens->prompt > 0)
    parts += metricPhrase("hit-rate", static_cast<double>(m_state.tokens->cached) /
                                          static_cast<double>(m_state.tokens->prompt));
  return parts.join(tr(" · "));
}

}  // namespace spanscope::ui
