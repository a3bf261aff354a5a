// SPDX-License-Identifier: GPL-3.0-or-later
// What a row says of a kind of event, and what it says where a row says nothing.
#pragma once

#include "engine/base/error.h"
#include "engine/trace/event.h"
#include "engine/trace/event_words.h"

#include <cstdint>
#include <optional>

namespace spanscope::trace {

/// What an event of a kind must name beside its payload; a reader refuses one that does not.
enum class About : std::uint8_t {
  Anything,      ///< it may name nothing
  Run,           ///< Event::run
  Request,       ///< Event::request, of which this may be the first that is heard
  KnownRequest,  ///< Event::request, which an earlier event introduced
};

/// What an event of a kind does to the pool (engine/trace/pool_replay.h).
enum class PoolEffect : std::uint8_t {
  None,
  Changes,  ///< so that the state before it must be known
  Replaces  ///< by a state that it brings along
};

/// By what a reader looks up the events of a kind, so that it need not walk through all of them.
struct Indexed {
  bool inSession = false;
  bool byRun = false;      ///< Event::run
  bool byRequest = false;  ///< the requests that Facts::visitRequests names
};

/// The facts of a kind of event that says nothing else. A row says, beside kName:
///
///   plain()          what a person calls the event, marked by forTranslation("Events", …)
///   detail()         what more of the event is worth a few words behind its plain name; by default nothing
///   kIsDetail        whether it is left out of what the window is sent when the window does not keep up,
///                    because a snapshot of the pool makes up for it or nothing but a view of it needs it
///   kPool            what it does to the pool
///   kAbout           what it must name
///   kIndexed         how readers find it
///   IndexedAs        the kind of event among which it is indexed: its own, unless it follows another
///   visitRequests()  the requests that it is indexed by: the one that it names, unless there are several
///   fault()          what is wrong with a payload in itself; nothing: it is sound
///   line()           what happened, in one line of a listing, after name, run, request and node
///   severity()       how severe it is in the log; nothing: it has no line of its own there
///   words()          that line, where severity() gives something
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

/// The kind of event among which one is indexed.
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
