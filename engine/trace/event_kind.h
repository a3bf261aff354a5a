// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers the kinds of events. Open this file to use such a number.
#pragma once

#include "engine/trace/event.h"

#include <cstddef>
#include <type_traits>
#include <utility>
#include <variant>

namespace spanscope::trace {

inline constexpr std::size_t kEventKinds = std::variant_size_v<Payload>;

template <class T, std::size_t... I>
constexpr std::size_t kindAmong(std::index_sequence<I...>) {
  return (... + (std::is_same_v<T, std::variant_alternative_t<I, Payload>> ? I : 0));
}

/// The number of a kind of event: its index in the variant, as in trace files.
template <class T>
inline constexpr std::size_t kEventKind = kindAmong<T>(std::make_index_sequence<kEventKinds>());

}  // namespace spanscope::trace
