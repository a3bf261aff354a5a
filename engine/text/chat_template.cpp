// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/chat_template.h"

#include "engine/base/error.h"
#include "engine/text/chat_template_table.h"
#include "engine/text/file_bytes.h"
#include "engine/text/utf8.h"

#include <nlohmann/json.hpp>

#include <system_error>

namespace spanscope::text {
namespace {

constexpr std::uintmax_t kMaxConfigBytes = std::uintmax_t{64} << 20U;

TokenId requireControl(const Tokenizer& tokenizer, const std::string& piece) {
  const TokenId id = tokenizer.controlId(piece);
  if (id < 0) {
    throw Failure({"", "chat template", "a tokenizer without the control piece \"" + piece + "\"",
                   "the tokenizer of a checkpoint with this chat template"});
  }
  return id;
}

/// Encodes pieces into ids, joining neighbouring literal texts before they are encoded, and notes which of
/// the ids hold bytes of the message's own text.
class PieceRenderer {
 public:
  explicit PieceRenderer(const Tokenizer& tokenizer) : m_tokenizer(&tokenizer) {}

  void addControl(const std::string& piece) {
    flush();
    m_rendered.ids.push_back(requireControl(*m_tokenizer, piece));
  }

  void addLiteral(std::string_view text) { m_literal += text; }

  void addOwn(std::string_view text) {
    m_ownBegin = m_literal.size();
    m_literal += text;
    m_ownEnd = m_literal.size();
    m_hasOwn = true;
  }

  void add(const std::vector<TemplatePiece>& pieces) {
    for (const TemplatePiece& piece : pieces) {
      if (piece.control) {
        addControl(piece.text);
      } else {
        addLiteral(piece.text);
      }
    }
  }

  RenderedMessage finish() {
    flush();
    return std::move(m_rendered);
  }

 private:
  void flush() {
    const std::vector<TokenId> ids = m_tokenizer->encode(m_literal);
    if (m_hasOwn) markOwn(ids);
    m_rendered.ids.insert(m_rendered.ids.end(), ids.begin(), ids.end());
    m_literal.clear();
    m_hasOwn = false;
  }

  /// A token that holds both template text and the message's own text counts as own text.
  void markOwn(const std::vector<TokenId>& ids) {
    std::size_t total = 0;
    for (const TokenId id : ids) total += m_tokenizer->bytes(id).size();
    // A tokenizer may add a space before the text; it does not belong to the message.
    const std::size_t added = total > m_literal.size() ? total - m_literal.size() : 0;
    const std::size_t begin = m_ownBegin + added;
    const std::size_t end = m_ownEnd + added;
    const auto before = static_cast<std::int32_t>(m_rendered.ids.size());
    m_rendered.textBegin = before;
    std::size_t position = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const std::size_t next = position + m_tokenizer->bytes(ids[i]).size();
      if (next <= begin) m_rendered.textBegin = before + static_cast<std::int32_t>(i) + 1;
      if (next > begin && position < end) ++m_rendered.textCount;
      position = next;
    }
  }

  const Tokenizer* m_tokenizer;
  RenderedMessage m_rendered;
  std::string m_literal;
  std::size_t m_ownBegin = 0;
  std::size_t m_ownEnd = 0;
  bool m_hasOwn = false;
};

/// The text of a checkpoint's chat template: newer checkpoints have a file of its own, older ones a field
/// that is a text or a list of named texts.
std::string readTemplateSource(const std::filesystem::path& directory, std::string& file,
                               std::string& place) {
  const std::filesystem::path own = directory / "chat_template.jinja";
  std::error_code error;
  if (std::filesystem::is_regular_file(own, error)) {
    file = own.string();
    return readFileBytes(own, kMaxConfigBytes, "a chat template");
  }
  const std::filesystem::path path = directory / "tokenizer_config.json";
  file = path.string();
  place = "/chat_template";
  const std::string bytes = readFileBytes(path, kMaxConfigBytes, "the configuration of a tokenizer");
  const nlohmann::json config = nlohmann::json::parse(bytes, nullptr, false);
  if (!config.is_object()) throw Failure({file, "", "no JSON object", "the configuration of a tokenizer"});
  const auto found = config.find("chat_template");
  if (found == config.end() || found->is_null()) {
    throw Failure({file, place, "nothing", "the checkpoint's chat template"});
  }
  if (found->is_string()) return found->get<std::string>();
  if (found->is_array()) {
    for (const nlohmann::json& entry : *found) {
      if (!entry.is_object() || !entry.contains("name") || !entry.contains("template")) continue;
      if (entry["name"] == "default" && entry["template"].is_string())
        return entry["template"].get<std::string>();
    }
  }
  throw Failure({file, place, "a " + std::string(found->type_name()),
                 "a text, or a list with a template that is named \"default\""});
}

}  // namespace

RenderedMessage render(const ChatTemplate& chat, const Tokenizer& tokenizer, query::Role role,
                       std::string_view text) {
  const auto index = static_cast<std::size_t>(role);
  PieceRenderer renderer(tokenizer);
  renderer.add(chat.prefix[index]);
  // Made valid here too, so that lengths in bytes are those of what is encoded.
  renderer.addOwn(toValidUtf8(text));
  renderer.add(chat.suffix[index]);
  return renderer.finish();
}

std::vector<TokenId> renderPieces(const std::vector<TemplatePiece>& pieces, const Tokenizer& tokenizer) {
  PieceRenderer renderer(tokenizer);
  renderer.add(pieces);
  return renderer.finish().ids;
}

const ChatTemplate& findChatTemplate(const std::filesystem::path& directory) {
  std::string file;
  std::string place;
  const std::string source = readTemplateSource(directory, file, place);
  std::string names;
  for (const KnownChatTemplate& known : knownChatTemplates()) {
    if (known.source == source) return known.chat;
    names += (names.empty() ? "" : ", ") + known.chat.name;
  }
  constexpr std::size_t kShown = 60;
  const std::string shown = toValidUtf8(source.substr(0, kShown)) + (source.size() > kShown ? "…" : "");
  throw Failure({file, place, "the unknown chat template \"" + shown + "\"", "one of the known: " + names});
}

}  // namespace spanscope::text
