// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/moment.h"

#include "engine/trace/event.h"

#include <algorithm>
#include <variant>

namespace spanscope::ui {
namespace {

// Events that move something in a view last long enough to be followed by eye. Other events are short.
constexpr int kFound = 1000;  // milliseconds, like the following values
constexpr int kLookedUp = 200;
constexpr int kAllocated = 400;
constexpr int kLost = 700;
constexpr int kPrefill = 900;
constexpr int kDecode = 100;
constexpr int kGenerated = 350;
constexpr int kStored = 250;
constexpr int kLaidOut = 300;
constexpr int kOther = 60;

bool belongTogether(const trace::Event& a, const trace::Event& b) {
  if (a.payload.index() != b.payload.index() || a.request != b.request || a.run != b.run) return false;
  if (const auto* lookup = std::get_if<trace::BlockLookedUp>(&a.payload)) {
    const auto& other = std::get<trace::BlockLookedUp>(b.payload);
    return lookup->outcome == other.outcome && lookup->segment == other.segment;
  }
  if (const auto* shared = std::get_if<trace::BlockShared>(&a.payload))
    return shared->segment == std::get<trace::BlockShared>(b.payload).segment;
  return !std::holds_alternative<trace::BatchComputed>(a.payload) &&
         !std::holds_alternative<trace::TokenGenerated>(a.payload) &&
         !std::holds_alternative<trace::RunStarted>(a.payload);
}

int durationOf(const trace::BlockLookedUp&) {
  return kLookedUp;
}

/// From this event on, the request uses the cached block.
int durationOf(const trace::BlockShared&) {
  return kFound;
}

int durationOf(const trace::BlockCopied&) {
  return kFound;
}

int durationOf(const trace::BatchComputed& batch) {
  const bool isPrefill = std::any_of(batch.entries.begin(), batch.entries.end(),
                                     [](const trace::BatchEntry& entry) { return !entry.decode; });
  return isPrefill ? kPrefill : kDecode;
}

int durationOf(const trace::BlockAllocated&) {
  return kAllocated;
}

int durationOf(const trace::BlockRemoved& removed) {
  return removed.reason == trace::RemovalReason::Grown ? kOther : kLost;
}

int durationOf(const trace::CacheCleared&) {
  return kLost;
}

int durationOf(const trace::TokenGenerated&) {
  return kGenerated;
}

int durationOf(const trace::BlockStored&) {
  return kStored;
}

int durationOf(const trace::BlockReleased&) {
  return kStored;
}

int durationOf(const trace::SpanTableLaidOut&) {
  return kLaidOut;
}

template <class T>
int durationOf(const T&) {
  return kOther;
}

int durationOf(const trace::Event& event) {
  return std::visit([](const auto& payload) { return durationOf(payload); }, event.payload);
}

}  // namespace

Beat beatFrom(const TraceStore& trace, std::size_t position) {
  std::size_t last = position + 1;
  while (last < trace.size() && belongTogether(trace.event(position), trace.event(last))) ++last;
  return {.first = position, .last = last, .milliseconds = durationOf(trace.event(position))};
}

Beat beatBefore(const TraceStore& trace, std::size_t position) {
  std::size_t first = position - 1;
  while (first > 0 && belongTogether(trace.event(first - 1), trace.event(position - 1))) --first;
  return {.first = first, .last = position, .milliseconds = durationOf(trace.event(first))};
}

double eased(double done) {
  const double t = std::clamp(done, 0.0, 1.0);
  return t * t * (3 - 2 * t);
}

}  // namespace spanscope::ui
