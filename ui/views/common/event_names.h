// SPDX-License-Identifier: GPL-3.0-or-later
// What a person reads of an event, wherever events are listed or spoken.
#pragma once

#include "ui/session/view_input.h"
#include "ui/views/common/segment_names.h"

#include <QString>

#include <map>

namespace spanscope::ui {

/// Says events in plain words: "Token generated · run 2 · answer of question 3 · “Lisbon”". Steps and parts
/// of prompts have the names that every view gives them. An object makes the names of a run or request only
/// once, so it must not outlive the trace's present length. It knows every event of the trace, also those
/// after the input's position.
class EventNames {
 public:
  explicit EventNames(const ViewInput& input);

  QString of(const trace::Event& event);

 private:
  QString stepOf(const trace::Event& event);
  QString partOf(const trace::Event& event);
  const RequestParts& partsOf(RequestId request);

  ViewInput m_input;  ///< at the end of the trace
  const trace::Replay& m_state;
  StepNames m_steps;
  std::map<RequestId, RequestParts> m_parts;
};

/// The event with its exact identifiers, as `spanq trace show` writes it, cut if it is long.
QString exactText(const trace::Event& event);

}  // namespace spanscope::ui
