// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/watch_source.h"

#include <QCoreApplication>
#include <QDateTime>

#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace spanscope::ui {

WatchSource::WatchSource(watch::WatchConfig config, const std::string& file)
    : m_hasTexts(config.tokenizer != nullptr), m_hasBlocks(!config.publishers.empty()) {
  if (!file.empty())
    m_recorder.startFile(file,
                         {.program = "spanscope " + QCoreApplication::applicationVersion().toStdString(),
                          .createdAt = QDateTime::currentMSecsSinceEpoch()});
  m_watch = std::make_unique<watch::Watch>(std::move(config), m_recorder);
}

ReportedFacts WatchSource::reports() const {
  ReportedFacts facts;
  for (const Fact fact : {Fact::TokenTimes, Fact::Passes, Fact::Attention})
    facts.set(fact, Reporting::CannotBeReported);
  const watch::WatchState& now = m_state;
  const bool hasBlocks = m_hasBlocks || now.tasks > 0 || m_hasSlots;
  if (!m_hasTexts) facts.set(Fact::TokenTexts, Reporting::CannotBeReported);
  if (!m_hasBlocks) facts.set(Fact::Prompts, Reporting::CannotBeReported);
  if (!hasBlocks) {
    facts.set(Fact::Pool, Reporting::CannotBeReported);
    facts.set(Fact::BlockLookups, Reporting::CannotBeReported);
  }
  // Sequences of blocks are not requests, so only the slots of a server have times.
  if (m_hasBlocks || !hasBlocks) facts.set(Fact::StepTimes, Reporting::CannotBeReported);
  if (!now.tokens && now.tasks == 0) facts.set(Fact::CachedTokens, Reporting::CannotBeReported);
  return facts;
}

bool WatchSource::drain() {
  std::vector<trace::Event> events;
  m_recorder.drain(events);
  if (m_watch) m_state = m_watch->state();
  m_dropped = 0;
  for (trace::Event& event : events) {
    m_hasNewRun = m_hasNewRun || std::holds_alternative<trace::RunStarted>(event.payload);
    const auto* started = std::get_if<trace::SessionStarted>(&event.payload);
    if (started != nullptr && !m_hasBlocks && !started->pool.blocks.empty()) m_hasSlots = true;
    m_store->append(std::move(event));
  }
  if (m_store->bytes() > kMostBytes) {
    const std::size_t before = m_store->size();
    m_store = std::make_shared<TraceStore>(m_store->newestPart(kMostBytes / 2));
    m_dropped = before - m_store->size();
  }
  return !events.empty();
}

std::string WatchSource::stop() {
  if (!m_watch) return {};
  m_state = m_watch->state();
  m_watch.reset();
  drain();
  const std::optional<Error> error = m_recorder.finishFile();
  return error ? error->message() : std::string();
}

watch::WatchState WatchSource::state() const {
  return m_state;
}

}  // namespace spanscope::ui
