// SPDX-License-Identifier: GPL-3.0-or-later
// Two runs of a query with one augment, as the engine would report them. They are made by hand, so that every
// score is known.
#pragma once

#include "engine/query/query.h"
#include "ui/document/document_model.h"
#include "ui/session/view_input.h"

#include <cstddef>

namespace spanscope::test {

/// The hashes of the found passages, the best first.
inline constexpr const char* kPassageHashes[] = {"00000000000000000000000000000001",
                                                 "00000000000000000000000000000002",
                                                 "00000000000000000000000000000003"};

class RetrievingRuns {
 public:
  RetrievingRuns();

  document::NodeId augment() const;
  /// The input after the first `events` events.
  ui::ViewInput input(std::size_t events = 100) const;

  query::Node model;
  spanscope::ui::DocumentModel document;
};

}  // namespace spanscope::test
