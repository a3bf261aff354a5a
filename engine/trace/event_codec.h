// SPDX-License-Identifier: GPL-3.0-or-later
// Encodes events and keyframes as bytes and JSON, and decodes bytes. Open this file to change the form of an
// event.
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

/// The place of the previous event. Sequence numbers and times are written as differences.
struct EventCursor {
  std::uint64_t sequence = 0;
  std::int64_t time = 0;
};

/// Min number of bytes of an event.
inline constexpr std::size_t kMinimumEventBytes = 7;

/// Appends an event and moves the cursor. Sequence number and time must not be below the cursor's.
void encodeEvent(ByteWriter& writer, EventCursor& cursor, const Event& event);

/// Reads an event and moves the cursor. Throws Failure whose place names event and field.
void decodeEvent(ByteReader& reader, EventCursor& cursor, Event& event);

/// Returns the names of all events, in the order of the variant.
std::vector<std::string> eventNames();

/// The contents of keyframes.
enum class KeyframeForm : std::uint8_t {
  Bare,         ///< in older files: without the reports of servers and the windows of layers
  WithReports,  ///< the whole state
};

/// Appends a keyframe with reports. Its pool comes last.
void encodeKeyframe(ByteWriter& writer, const Keyframe& keyframe);
/// Reads a keyframe. Without its pool, the reader stops before the pool. Throws Failure whose place names the
/// field.
Keyframe decodeKeyframe(ByteReader& reader, KeyframeForm form, bool withPool);

/// Returns every payload with the names and types of its fields, in file order. This defines a version of the
/// format.
std::string schemaText();

/// Returns the hash of schemaText. Files contain the hash, so that a file is never read with another list of
/// fields. Written files have keyframes with reports.
std::uint64_t schemaFingerprint(KeyframeForm form = KeyframeForm::WithReports);

/// Returns the form of keyframes in files with this fingerprint. Nothing: the files have unknown fields. The
/// program knows its own fingerprint. It also knows that of a program without the newest events, if all
/// others are equal.
std::optional<KeyframeForm> readableSchema(std::uint64_t fingerprint);

/// Returns the event as an object: "sequence", "time" (nanoseconds), "session", "run", "request", "node",
/// "event" (its name) and "data". The data has the payload's fields under their names. Enumerations are
/// words, and block keys are 32 hexadecimal digits.
nlohmann::ordered_json toJson(const Event& event);

/// Returns toJson on one line. Bytes that are not UTF-8 become U+FFFD.
std::string jsonLine(const Event& event);

/// Returns a pool's state as an object.
nlohmann::ordered_json toJson(const PoolState& pool);

}  // namespace spanscope::trace
