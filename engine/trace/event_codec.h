// SPDX-License-Identifier: GPL-3.0-or-later
// Encodes events as bytes and JSON, and decodes bytes. Open this file to change the form of an event.
#pragma once

#include "engine/trace/binary_codec.h"
#include "engine/trace/event.h"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace spanscope::trace {

/// Sequence number and time of the previous event. Events are written as differences from these values.
struct EventCursor {
  std::uint64_t sequence = 0;
  std::int64_t time = 0;
};

/// Min number of bytes of an event.
inline constexpr std::size_t kMinimumEventBytes = 7;

/// Appends an event and moves the cursor. Sequence number and time must not be below the values of the
/// cursor.
void encodeEvent(ByteWriter& writer, EventCursor& cursor, const Event& event);

/// Reads an event and moves the cursor. Throws a Failure whose place names event and field.
void decodeEvent(ByteReader& reader, EventCursor& cursor, Event& event);

/// Returns the names of all events, in the order of the variant.
std::vector<std::string> eventNames();

/// Returns every payload with the names and types of its fields, in file order. This defines a version of the
/// format.
std::string schemaText();

/// Returns the hash of schemaText(). Files contain the hash, so that a file is never read with another list
/// of fields.
std::uint64_t schemaFingerprint();

/// Returns whether files with this fingerprint can be read. The program reads files of its own version, and
/// files of older versions that lack only the newest events.
bool isReadableSchema(std::uint64_t fingerprint);

/// Returns the event as an object: "sequence", "time" (nanoseconds), "session", "run", "request", "node",
/// "event" (its name) and "data". The data has the payload's fields under their names. Values of enumerations
/// are words, and block keys are 32 hexadecimal digits.
nlohmann::ordered_json toJson(const Event& event);

/// Returns toJson() on one line. Bytes that are not UTF-8 become U+FFFD.
std::string jsonLine(const Event& event);

}  // namespace spanscope::trace
