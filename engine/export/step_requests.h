// SPDX-License-Identifier: GPL-3.0-or-later
// What the forms of a query have in common that are sent step by step.
#pragma once

#include "engine/export/chat_requests.h"
#include "engine/plan/plan.h"

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

namespace spanscope::exports {

/// The requests of a plan, and which step each is of. Steps under a monad are left out, unless others need
/// them.
struct StepRequests {
  std::vector<ChatRequest> requests;
  std::vector<StepIndex> stepOf;
  std::map<StepIndex, std::size_t> requestOf;
};

/// `seed`: none: that of the server.
StepRequests stepRequests(const plan::Plan& plan, std::optional<std::uint64_t> seed);

/// What there is where a query has no requests.
Error generatesNothing();

}  // namespace spanscope::exports
