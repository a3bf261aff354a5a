// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/streamed_source.h"

#include <QCoreApplication>
#include <QDateTime>

#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace spanscope::ui {

StreamedSource::StreamedSource(std::shared_ptr<trace::Recorder> recorder, const std::string& file)
    : m_recorder(std::move(recorder)) {
  if (file.empty()) return;
  m_recorder->startFile(file, {.program = "spanscope " + QCoreApplication::applicationVersion().toStdString(),
                               .createdAt = QDateTime::currentMSecsSinceEpoch()});
}

bool StreamedSource::drain() {
  refresh();
  std::vector<trace::Event> events;
  m_recorder->drain(events);
  m_dropped = 0;
  for (trace::Event& event : events) {
    m_hasNewRun = m_hasNewRun || std::holds_alternative<trace::RunStarted>(event.payload);
    take(event);
    m_store->append(std::move(event));
  }
  if (m_store->bytes() > kMostBytes) {
    const std::size_t before = m_store->size();
    m_store = std::make_shared<TraceStore>(m_store->newestPart(kMostBytes / 2));
    m_dropped = before - m_store->size();
  }
  return !events.empty();
}

void StreamedSource::finishFile() {
  if (const std::optional<Error> error = m_recorder->finishFile())
    m_fileProblem = QString::fromStdString(error->message());
}

}  // namespace spanscope::ui
