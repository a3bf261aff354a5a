// SPDX-License-Identifier: GPL-3.0-or-later
// Encodes pieces of templates and texts of messages into ids. Open this file when ids at the border of a
// message are wrong.
#pragma once

#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spanscope::text {

/// Returns where the text begins after its first white space, or its size if the text is blank. White space
/// is that of Unicode, as in the tokenizers library.
std::size_t beginWithoutSpace(std::string_view text);
/// Returns where the text ends before its last white space, or 0 if the text is blank.
std::size_t endWithoutSpace(std::string_view text);

/// The control pieces of a tokenizer, to find them in text of a template.
class ControlPieces {
 public:
  explicit ControlPieces(const Tokenizer& tokenizer);

  struct Found {
    std::size_t begin = 0;
    std::size_t length = 0;
    TokenId id = 0;
    TakenSpace takenSpace;
  };
  /// Returns the first control piece in the text, and the longest one at its place.
  std::optional<Found> find(std::string_view text) const;

 private:
  struct Piece {
    std::string spelling;
    TokenId id = 0;
    TakenSpace takenSpace;
  };
  std::map<char, std::vector<Piece>> m_pieces;  ///< by first byte, the longest first
};

/// Encodes pieces into ids. Joins neighbouring literal texts before encoding. Notes which ids have bytes of
/// the message's own text.
class PieceRenderer {
 public:
  /// `controls`: the control pieces of the tokenizer. The control pieces must outlive the object. Null: the
  /// object reads the control pieces when raw text needs them.
  explicit PieceRenderer(const Tokenizer& tokenizer, EncodeLimits limits = {},
                         const ControlPieces* controls = nullptr)
      : m_tokenizer(&tokenizer), m_limits(std::move(limits)), m_controls(controls) {}

  /// Throws Failure if the tokenizer lacks the piece.
  void addControl(const TemplatePiece& piece);
  void addLiteral(std::string_view text) { m_literal += text; }
  /// Adds text of the template that may contain control pieces.
  void addRaw(std::string_view text);
  /// Adds text of a message. If this is called several times, the text of the message reaches from the first
  /// text to the last text.
  void addOwn(std::string_view text);
  void add(const std::vector<TemplatePiece>& pieces);

  /// Removes white space at the start of the following text. A control piece such as `-%}` requires this.
  void takeSpaceAtBegin() { m_dropsSpace = true; }
  /// Removes white space at the end of the text so far.
  void takeSpaceAtEnd() { dropSpaceBefore(); }

  RenderedMessage finish();

 private:
  void flush();
  void dropSpaceBefore();
  void dropSpaceAfter();
  void markOwn(const std::vector<TokenId>& ids);

  const Tokenizer* m_tokenizer;
  EncodeLimits m_limits;
  const ControlPieces* m_controls;
  std::optional<ControlPieces> m_ownControls;
  RenderedMessage m_rendered;
  std::string m_literal;
  std::size_t m_ownBegin = 0;
  std::size_t m_ownEnd = 0;
  bool m_hasOwn = false;      ///< in `m_literal`
  bool m_hadOwn = false;      ///< before `m_literal`
  bool m_dropsSpace = false;  ///< at the beginning of `m_literal`
};

}  // namespace spanscope::text
