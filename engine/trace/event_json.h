// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/trace/event.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace spanscope::trace {

/// The event as an object: "sequence", "time" (nanoseconds), "session", "run", "request", "node", "event"
/// (its name) and "data", the payload's fields under their names. Enumerations are words, block keys 32
/// hexadecimal digits.
nlohmann::ordered_json toJson(const Event& event);

/// toJson on one line. Bytes that are not UTF-8 become U+FFFD.
std::string jsonLine(const Event& event);

/// A pool's state as an object.
nlohmann::ordered_json toJson(const PoolState& pool);

}  // namespace spanscope::trace
