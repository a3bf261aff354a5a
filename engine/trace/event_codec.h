// SPDX-License-Identifier: GPL-3.0-or-later
// Events to bytes and back, one after the other.
#pragma once

#include "engine/trace/binary_codec.h"
#include "engine/trace/event.h"

#include <cstddef>
#include <cstdint>
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

/// Every payload with the names and types of its fields, in file order: what a version of the format means.
std::string schemaText();

/// Hash of schemaText. Files carry it, so that a file is never read with another list of fields.
std::uint64_t schemaFingerprint();

/// Whether files with this fingerprint have fields that this program knows: its own, or those of a program
/// that lacked its last events and had all others as they are.
bool isReadableSchema(std::uint64_t fingerprint);

}  // namespace spanscope::trace
