// SPDX-License-Identifier: GPL-3.0-or-later
// Describes events for the user, in lists and for screen readers.
#pragma once

#include "ui/session/view_input.h"
#include "ui/views/common/segment_names.h"

#include <QString>

#include <map>

namespace spanscope::ui {

/// Describes events in plain words: "Token generated · run 2 · answer of question 3 · “Lisbon”". Steps and
/// sections of prompts have the same names as in every view. An object makes each name only once. So the
/// object becomes invalid when the trace grows. The object describes all events of the trace, including
/// events after the input's position.
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
