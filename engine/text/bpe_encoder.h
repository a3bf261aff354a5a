// SPDX-License-Identifier: GPL-3.0-or-later
// Byte-pair encoding of the words of one text: pairs of units are joined step by step. Each step joins the
// pair with the lowest rank; of equal pairs, the leftmost.
#pragma once

#include "engine/base/ids.h"
#include "engine/text/bpe_model.h"
#include "engine/text/piece_table.h"
#include "engine/text/rising_queue.h"
#include "engine/text/stop.h"
#include "engine/text/word_cache.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string_view>
#include <vector>

namespace spanscope::text {

class BpeEncoder {
 public:
  /// All must outlive it. `textBytes`: how long the text is, about.
  BpeEncoder(const BpeModel& model, std::size_t textBytes, const std::stop_token& stop, IdOutput& ids)
      : m_model(&model), m_ids(&ids), m_poll(stop), m_cache(textBytes) {}

  /// Writes the ids of one word, which must be valid UTF-8. Takes O(n log n) steps. The memory depends on the
  /// longest stretch between two places where nothing can be joined. Throws Failure for a unit that no piece
  /// covers, and on a stop.
  void encodeWord(std::string_view word);

 private:
  /// A piece of a long stretch and what it makes with the next one.
  struct Link {
    TokenId id = -1;
    TokenId joined = -1;
    std::uint32_t rank = 0;  ///< of the merge with the next one; the largest number if there is none
    std::uint32_t previous = 0;
    std::uint32_t next = 0;
  };

  /// Calls `take` for each unit of a word, in order, with the offset of its character.
  template <class Take>
  void forEachUnit(std::string_view word, const Take& take);
  void encodeStretch(std::string_view stretch);
  void give(std::span<const TokenId> ids);
  void join();
  void joinFew();
  void joinMany();
  void consider(std::uint32_t left);

  const BpeModel* m_model;
  IdOutput* m_ids;
  StopPoll m_poll;
  WordCache m_cache;
  std::vector<TokenId> m_units;  ///< of the stretch
  std::vector<BpeModel::Merge> m_joints;
  std::vector<Link> m_links;
  RisingQueue m_candidates;  ///< the places are those of the left ones in m_links
};

}  // namespace spanscope::text
