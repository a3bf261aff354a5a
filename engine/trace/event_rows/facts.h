// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the facts of a kind of event, and the defaults of these facts. Open this file to add a fact for all
// events.
#pragma once

#include "engine/base/error.h"
#include "engine/trace/event.h"
#include "engine/trace/line_pieces.h"

#include <cstdint>
#include <optional>

namespace spanscope::trace {

/// The run or request that an event of a kind must name. A reader refuses an event without this run or
/// request.
enum class About : std::uint8_t {
  Anything,      ///< no run or request is required
  Run,           ///< Event::run
  Request,       ///< Event::request, which may be a new request
  KnownRequest,  ///< Event::request, which an earlier event introduced
};

/// The effect of an event on the pool (engine/trace/pool_replay.h).
enum class PoolEffect : std::uint8_t {
  None,
  Changes,  ///< needs the state before it
  Replaces  ///< contains the new state
};

/// The keys by which a reader finds events of a kind in an index.
struct Indexed {
  bool inSession = false;
  bool byRun = false;      ///< Event::run
  bool byRequest = false;  ///< the requests that Facts::visitRequests names
};

/// The default facts of a kind of event. A row derives from this struct and sets kName. The row may replace
/// these facts:
/// - plain(): the event's name for the user, marked by forTranslation("Events", …);
/// - detail(): a few more words after the plain name (default: nothing);
/// - kIsDetail: whether a slow window may miss the event. True if a snapshot of the pool replaces the event,
///   or if only one view needs the event.
/// - kPool: the effect on the pool;
/// - kAbout: the run or request that the event must name;
/// - kIndexed: the keys by which readers find the event;
/// - IndexedAs: the kind under which the event is indexed (default: its own kind);
/// - visitRequests(): the requests under which the event is indexed (default: Event::request);
/// - fault(): the fault of a payload, or nothing;
/// - line(): the text of a line in a listing, after name, run, request and node;
/// - severity(): the severity of the event's line in the log, or nothing without a line;
/// - words(): the line in the log, if severity() has a value.
struct UsualFacts {
  static constexpr bool kIsDetail = false;
  static constexpr PoolEffect kPool = PoolEffect::None;
  static constexpr About kAbout = About::Anything;
  static constexpr Indexed kIndexed{};

  template <class Payload, class Visit>
  static void visitRequests(const Payload& /*payload*/, const Event& event, Visit visit) {
    visit(event.request);
  }
  template <class Payload>
  static std::optional<Error> fault(const Payload& /*payload*/) {
    return std::nullopt;
  }
  template <class Payload>
  static EventWords detail(const Payload& /*payload*/) {
    return {};
  }
  template <class Payload>
  static std::optional<Severity> severity(const Payload& /*payload*/) {
    return std::nullopt;
  }
};

/// The row of a kind of event.
template <class Payload>
struct Facts;

/// The kind of event under which a kind is indexed.
template <class Payload>
struct IndexedAs {
  using Kind = Payload;
};
template <class Payload>
requires requires {
  typename Facts<Payload>::IndexedAs;
}
struct IndexedAs<Payload> {
  using Kind = typename Facts<Payload>::IndexedAs;
};

}  // namespace spanscope::trace
