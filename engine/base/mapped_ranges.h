// SPDX-License-Identifier: GPL-3.0-or-later
// Handles files that are mapped into memory and get shorter while they are read. When a thread reads a page
// that is gone, the system sends the signal SIGBUS, which would end the program. The handler here answers the
// signal where it occurs: it maps zeros there and notes that bytes read since then mean nothing.
//
// A process has one handler for a signal, and the handler gets only an address. So this is the one place of
// the engine with a table that the whole process shares. If the address is in no registered range, the signal
// goes to the handler that was set before the first range was registered.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

namespace spanscope {

/// An entry of the table for one range.
struct MappedRangeSlot;

/// Registers the bytes of a file that mmap() mapped. Register them before the first read, and release them
/// before they are unmapped.
class MappedRange {
 public:
  MappedRange() = default;
  /// `bytes`: not empty, and they begin at the beginning of a page. Throws std::bad_alloc if the table cannot
  /// grow.
  explicit MappedRange(std::span<const std::byte> bytes);
  ~MappedRange();
  MappedRange(MappedRange&& other) noexcept : m_slot(std::exchange(other.m_slot, nullptr)) {}
  MappedRange& operator=(MappedRange&& other) noexcept;
  MappedRange(const MappedRange&) = delete;
  MappedRange& operator=(const MappedRange&) = delete;

  /// Whether a read touched a page that is gone, and so got zeros. If the file ends within the last page, the
  /// rest of the page reads as zeros without a signal: check the size of the file to notice this.
  bool wasCut() const;

 private:
  void release() noexcept;

  MappedRangeSlot* m_slot = nullptr;
};

}  // namespace spanscope
