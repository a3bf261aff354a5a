// SPDX-License-Identifier: GPL-3.0-or-later
// Files that are mapped into memory and lose their end while they are read. The system tells whoever touches
// what is gone by a signal, SIGBUS, which ends the program unless it is answered where it occurs: by putting
// zeros there, and a note that what was read since means nothing.
//
// A signal has one handler in a process, which is told an address and nothing else. So this is the one place
// of the engine with a table that all of it shares. Signals at addresses that are in no range go where they
// went before the first range was registered.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

namespace spanscope {

/// What the table knows of a range.
struct MappedRangeSlot;

/// The bytes of a file that mmap() mapped, while they are mapped. Registered before they are read, and let go
/// of before they are unmapped.
class MappedRange {
 public:
  MappedRange() = default;
  /// `bytes`: not empty, from a page's beginning. Throws std::bad_alloc where the table cannot grow.
  explicit MappedRange(std::span<const std::byte> bytes);
  ~MappedRange();
  MappedRange(MappedRange&& other) noexcept : m_slot(std::exchange(other.m_slot, nullptr)) {}
  MappedRange& operator=(MappedRange&& other) noexcept;
  MappedRange(const MappedRange&) = delete;
  MappedRange& operator=(const MappedRange&) = delete;

  /// Whether a part that is gone was read, as zeros. A last page that is there in part reads as zeros
  /// without a signal: the file's size tells of that.
  bool wasCut() const;

 private:
  void release() noexcept;

  MappedRangeSlot* m_slot = nullptr;
};

}  // namespace spanscope
