// SPDX-License-Identifier: GPL-3.0-or-later
// Events and keyframes to bytes and back, one after the other.
#pragma once

#include "engine/trace/binary_codec.h"
#include "engine/trace/event.h"
#include "engine/trace/replay.h"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::trace {

/// Where the previous event stood: sequence numbers and times are written as differences.
struct EventCursor {
  std::uint64_t sequence = 0;
  std::int64_t time = 0;
};

/// Fewest bytes that an event takes.
inline constexpr std::size_t kMinimumEventBytes = 7;

/// Appends an event and moves the cursor. Sequence number and time must not be below the cursor's.
void encodeEvent(ByteWriter& writer, EventCursor& cursor, const Event& event);

/// Reads an event and moves the cursor. Throws Failure whose place names event and field.
void decodeEvent(ByteReader& reader, EventCursor& cursor, Event& event);

/// The names of all events, in the order of the variant.
std::vector<std::string> eventNames();

/// What keyframes hold.
enum class KeyframeForm : std::uint8_t {
  Bare,         ///< in older files: nothing of what servers reported, nor the windows of layers
  WithReports,  ///< the whole state
};

/// Appends a keyframe with reports; its pool comes last.
void encodeKeyframe(ByteWriter& writer, const Keyframe& keyframe);
/// Reads a keyframe; without its pool it stops before that. Throws Failure whose place names the field.
Keyframe decodeKeyframe(ByteReader& reader, KeyframeForm form, bool withPool);

/// Every payload with the names and types of its fields, in file order: what a version of the format means.
std::string schemaText();

/// Hash of schemaText. Files carry it, so that a file is never read with another list of fields. Those that
/// are written have keyframes with reports.
std::uint64_t schemaFingerprint(KeyframeForm form = KeyframeForm::WithReports);

/// The form of keyframes in files with this fingerprint; none: they have fields that this program does not
/// know. It knows its own, and those of a program that lacked its last events and had all others as they are.
std::optional<KeyframeForm> readableSchema(std::uint64_t fingerprint);

/// The event as an object: "sequence", "time" (nanoseconds), "session", "run", "request", "node", "event"
/// (its name) and "data", the payload's fields under their names. Enumerations are words, block keys 32
/// hexadecimal digits.
nlohmann::ordered_json toJson(const Event& event);

/// toJson on one line. Bytes that are not UTF-8 become U+FFFD.
std::string jsonLine(const Event& event);

/// A pool's state as an object.
nlohmann::ordered_json toJson(const PoolState& pool);

}  // namespace spanscope::trace
