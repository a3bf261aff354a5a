// SPDX-License-Identifier: GPL-3.0-or-later
// The part of a tokenizer that is a table of pieces. Open this file to write a new kind of tokenizer.
#pragma once

#include "engine/base/error.h"
#include "engine/text/tokenizer.h"

#include <cstddef>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace spanscope::text {

/// The properties of one id in a vocabulary.
struct Piece {
  std::string bytes;  ///< the bytes of the id; empty for a control piece
  std::string display;
  bool control = false;
  bool known = false;  ///< false for an id without a piece
  TakenSpace takenSpace{};
};

/// Collects ids and passes them to a sink in batches.
class IdOutput {
 public:
  /// Thrown if the sink wants no more ids. encodeTo() catches it.
  struct Enough {};

  /// `sink` must outlive the object.
  explicit IdOutput(const TokenSink& sink) : m_sink(&sink) { m_ids.reserve(2 * kPortion); }

  /// Append ids here, then call pass().
  std::vector<TokenId>& ids() { return m_ids; }
  void pass() {
    if (m_ids.size() >= kPortion) flush();
  }
  void flush() {
    if (m_ids.empty()) return;
    const bool goesOn = (*m_sink)(m_ids);
    m_ids.clear();
    if (!goesOn) throw Enough();
  }

 private:
  static constexpr std::size_t kPortion = 1024;

  const TokenSink* m_sink;
  std::vector<TokenId> m_ids;
};

/// The part of a tokenizer that is a table of pieces: everything except encoding.
class PieceTable : public Tokenizer {
 public:
  /// If a text cannot be encoded, the error names this tokenizer's file.
  void encodeTo(std::string_view text, const std::stop_token& stop, const TokenSink& sink) const final {
    try {
      IdOutput ids(sink);
      encodeText(text, stop, ids);
      ids.flush();
    } catch (const IdOutput::Enough&) {
      return;
    } catch (const Failure& failure) {
      Error error = failure.error();
      if (error.file.empty()) error.file = m_source;
      throw Failure(std::move(error));
    }
  }
  TokenId controlId(std::string_view piece) const final {
    const auto found = m_controlIds.find(std::string(piece));
    return found == m_controlIds.end() ? -1 : found->second;
  }
  std::string bytes(TokenId id) const final { return isKnown(id) ? at(id).bytes : std::string(); }
  std::string display(TokenId id) const final {
    return isKnown(id) ? at(id).display : "<id " + std::to_string(id) + ">";
  }
  bool isControl(TokenId id) const final { return isKnown(id) && at(id).control; }
  TakenSpace takenSpace(TokenId id) const final { return isKnown(id) ? at(id).takenSpace : TakenSpace{}; }
  std::int32_t vocabularySize() const final { return static_cast<std::int32_t>(m_pieces.size()); }
  std::string source() const final { return m_source; }

 protected:
  /// `source` is the file from which the table was read.
  explicit PieceTable(std::string source) : m_source(std::move(source)) {}

  /// Writes all ids of the text to `ids`. Errors do not have to name the file.
  virtual void encodeText(std::string_view text, const std::stop_token& stop, IdOutput& ids) const = 0;

  bool isKnown(TokenId id) const { return id >= 0 && id < vocabularySize() && at(id).known; }
  /// Returns the piece of an id, which must be less than the vocabulary's size.
  const Piece& at(TokenId id) const { return m_pieces[static_cast<std::size_t>(id)]; }

  std::vector<Piece> m_pieces;  ///< by id
  std::unordered_map<std::string, TokenId> m_controlIds;

 private:
  std::string m_source;
};

}  // namespace spanscope::text
