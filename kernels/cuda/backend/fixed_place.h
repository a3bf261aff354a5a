// SPDX-License-Identifier: GPL-3.0-or-later
// Memory that each forward pass fills again from the beginning. The same sizes in the same order get the same
// addresses. The work of one forward pass can therefore be repeated for the next. Open this file to change
// the place of the lists of forward passes.
#pragma once

#include "kernels/cuda/runtime.h"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace spanscope::cuda {

/// Pieces of one kind of memory. Allocated memory stays valid until restart().
template <class Memory>
class FixedPieces {
 public:
  /// Throws Failure if the memory cannot be allocated.
  std::byte* take(const Device& device, std::size_t bytes) {
    constexpr std::size_t kAlignment = 256;
    if (bytes == 0) return nullptr;
    bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    // New pieces come after the existing ones. The same calls then give the same addresses again.
    while (m_piece < m_pieces.size() && m_used + bytes > m_pieces[m_piece].bytes()) {
      ++m_piece;
      m_used = 0;
    }
    if (m_piece == m_pieces.size()) m_pieces.emplace_back(device, sizeFor(bytes), "work of decode steps");
    std::byte* const place = m_pieces[m_piece].template as<std::byte>() + m_used;
    m_used += bytes;
    return place;
  }
  void restart() {
    m_piece = 0;
    m_used = 0;
  }

 private:
  static std::size_t sizeFor(std::size_t bytes) {
    std::size_t size = std::size_t{1} << 20U;
    while (size < bytes) size *= 2;
    return size;
  }

  std::vector<Memory> m_pieces;
  std::size_t m_piece = 0;  ///< the piece of the next allocation
  std::size_t m_used = 0;   ///< allocated bytes of this piece
};

class FixedPlace;

/// Gives one forward pass the use of the place.
class FixedLease {
 public:
  FixedLease() = default;
  explicit FixedLease(std::shared_ptr<FixedPlace> place) : m_place(std::move(place)) {}
  ~FixedLease();
  FixedLease(FixedLease&&) noexcept = default;
  FixedLease& operator=(FixedLease&& other) noexcept;

  explicit operator bool() const { return m_place != nullptr; }
  std::byte* take(std::size_t bytes) const;
  std::byte* takeOfHost(std::size_t bytes) const;
  /// Returns memory for the lists of the forward pass. The sizes of lists vary, so this memory is separate
  /// from the other memory. Call this function once.
  std::byte* takeForLists(std::size_t bytes) const;
  std::byte* takeForListsOfHost(std::size_t bytes) const;

 private:
  void giveBack();
  std::shared_ptr<FixedPlace> m_place;
};

class FixedPlace : public std::enable_shared_from_this<FixedPlace> {
 public:
  explicit FixedPlace(const Device& device) : m_device(device) {}

  /// Returns an empty lease while another forward pass has the place. Before the lease ends, wait for the
  /// stream.
  FixedLease lease() {
    if (m_isTaken) return {};
    m_isTaken = true;
    m_card.restart();
    m_host.restart();
    m_lists.restart();
    m_listsOfHost.restart();
    return FixedLease(shared_from_this());
  }

 private:
  friend class FixedLease;
  Device m_device;
  FixedPieces<DeviceMemory> m_card;
  FixedPieces<PinnedMemory> m_host;
  FixedPieces<DeviceMemory> m_lists;
  FixedPieces<PinnedMemory> m_listsOfHost;
  bool m_isTaken = false;
};

inline FixedLease::~FixedLease() {
  giveBack();
}
inline FixedLease& FixedLease::operator=(FixedLease&& other) noexcept {
  if (this == &other) return *this;
  giveBack();
  m_place = std::move(other.m_place);
  return *this;
}
inline void FixedLease::giveBack() {
  if (m_place) m_place->m_isTaken = false;
  m_place = nullptr;
}
inline std::byte* FixedLease::take(std::size_t bytes) const {
  return m_place->m_card.take(m_place->m_device, bytes);
}
inline std::byte* FixedLease::takeOfHost(std::size_t bytes) const {
  return m_place->m_host.take(m_place->m_device, bytes);
}
inline std::byte* FixedLease::takeForLists(std::size_t bytes) const {
  return m_place->m_lists.take(m_place->m_device, bytes);
}
inline std::byte* FixedLease::takeForListsOfHost(std::size_t bytes) const {
  return m_place->m_listsOfHost.take(m_place->m_device, bytes);
}

}  // namespace spanscope::cuda
