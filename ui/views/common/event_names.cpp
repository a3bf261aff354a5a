// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/event_names.h"

#include "engine/trace/report.h"
#include "ui/words/table_words.h"
#include "ui/words/tr.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <variant>

namespace spanscope::ui {
namespace {

ViewInput atEnd(ViewInput input) {
  input.position = input.trace->size();
  return input;
}

/// The virtual block of an event; nothing: the event has none.
std::optional<trace::BlockPlace> placeOf(const trace::Event& event) {
  return std::visit(
      [](const auto& payload) -> std::optional<trace::BlockPlace> {
        if constexpr (requires { payload.segment, payload.virtualIndex; }) {
          return trace::BlockPlace{payload.segment, payload.virtualIndex};
        } else {
          return std::nullopt;
        }
      },
      event.payload);
}

}  // namespace

EventNames::EventNames(const ViewInput& input)
    : m_input(atEnd(input)), m_state(m_input.trace->newest()), m_steps(m_input, m_state.progress()) {}

const RequestParts& EventNames::partsOf(RequestId request) {
  const auto [parts, isNew] = m_parts.try_emplace(request);
  if (isNew) parts->second = requestParts(m_input, request);
  return parts->second;
}

QString EventNames::partOf(const trace::Event& event) {
  if (event.request == 0) return {};
  const auto place = placeOf(event);
  if (!place && event.node.empty()) return {};
  const RequestParts& own = partsOf(event.request);
  if (place) {
    const std::int32_t size = std::max(1, m_state.pool().blockSize());
    const std::int64_t first = std::int64_t{place->virtualIndex} * size;
    if (first > std::numeric_limits<std::int32_t>::max() - size) return {};
    return own.nameOf(place->segment, static_cast<std::int32_t>(first),
                      static_cast<std::int32_t>(first) + size);
  }
  for (std::uint32_t part = 0; part < own.names.size(); ++part) {
    if (own.parts.info(part).node == event.node) return own.names[part].name;
  }
  return {};
}

QString EventNames::stepOf(const trace::Event& event) {
  const auto& requests = m_state.progress().requests;
  const auto request = requests.find(event.request);
  if (request == requests.end()) return {};
  return m_steps.of(request->second);
}

QString EventNames::of(const trace::Event& event) {
  QStringList parts{QCoreApplication::translate("Events", trace::plainNameOf(event))};
  if (event.run != 0) parts += tr("run %1").arg(event.run);
  const QString step = stepOf(event);
  const QString part = partOf(event);
  if (std::holds_alternative<trace::TokenGenerated>(event.payload)) {
    parts += step.isEmpty() ? tr("answer") : tr("answer of %1").arg(step);
  } else if (!part.isEmpty()) {
    // In a run of one step, events do not repeat the step's name.
    const auto run = m_state.progress().runs.find(event.run);
    const bool isOnly = run == m_state.progress().runs.end() || run->second.requests.size() < 2;
    parts += step.isEmpty() || isOnly ? part : tr("%1 of %2").arg(part, step);
  } else if (!step.isEmpty()) {
    parts += step;
  }
  const QString detail =
      eventText(trace::detailOf(event), [&](StepIndex index) { return m_steps.of(event.run, index); });
  if (!detail.isEmpty()) parts += detail;
  return parts.join(tr(" · "));
}

QString exactText(const trace::Event& event) {
  constexpr qsizetype kMostLetters = 160;
  QString text = QString::fromStdString(trace::describe(event)).simplified();
  if (text.size() > kMostLetters) text = text.left(kMostLetters) + QStringLiteral("…");
  return text;
}

}  // namespace spanscope::ui
