// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/export_tokens.h"

#include "app/cli/export_stage.h"
#include "engine/base/error.h"
#include "engine/layout/marker_layout.h"
#include "engine/plan/spnl/server_body.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"

#include <nlohmann/json.hpp>

#include <ostream>
#include <vector>

namespace spanscope::cli {
namespace {

/// The whole way from a body to ids, with one tokenizer and template.
class BodyWriter {
 public:
  explicit BodyWriter(const TokenExportOptions& options)
      : m_tokenizer(text::loadTokenizer(options.tokenizer)),
        m_chat(options.chatTemplate.empty() ? text::findChatTemplate(options.tokenizer)
                                            : text::chatTemplateNamed(options.chatTemplate)) {
    m_markers.blockSize = options.blockSize;
    m_markers.pad = checked("--pad", options.pad);
    if (options.plus) m_markers.plus = checked("--plus", *options.plus);
    if (options.cross) m_markers.cross = checked("--cross", *options.cross);
    const auto& assistant = m_chat.turns[static_cast<std::size_t>(query::Role::Assistant)];
    if (assistant) {
      m_markers.assistantSuffix =
          static_cast<std::int32_t>(text::renderPieces(assistant->suffix, *m_tokenizer).size());
    }
  }

  nlohmann::json idsOf(const query::Node& body) const {
    const bool isMap = body.as<query::Map>() != nullptr;
    layout::BodyTokens tokens;
    for (const query::Message& message : layout::messagesOf(body)) {
      const bool isFirst = isMap || tokens.messages.empty();
      std::vector<TokenId> ids;
      if (isFirst) ids = text::renderOpening(m_chat, *m_tokenizer, message.role == query::Role::System);
      const auto rendered = text::render(m_chat, *m_tokenizer, message.role, message.text,
                                         isFirst ? text::Place::First : text::Place::Later);
      ids.insert(ids.end(), rendered.ids.begin(), rendered.ids.end());
      tokens.messages.push_back(std::move(ids));
    }
    tokens.generationPrompt = text::renderPieces(m_chat.generationPrompt, *m_tokenizer);
    const auto prompts = layout::layoutWithMarkers(body, tokens, m_markers);
    return isMap ? nlohmann::json(prompts) : nlohmann::json(prompts.front());
  }

 private:
  TokenId checked(const char* option, std::int32_t id) const {
    if (id >= 0 && id < m_tokenizer->vocabularySize()) return id;
    throw Failure(Error{"", option, "the id " + std::to_string(id),
                        "0 to " + std::to_string(m_tokenizer->vocabularySize() - 1)});
  }

  std::unique_ptr<text::Tokenizer> m_tokenizer;
  const text::ChatTemplate& m_chat;
  layout::MarkerOptions m_markers;
};

}  // namespace

void addTokenOptions(CLI::App& command, TokenExportOptions& options) {
  const char* const group = "With --to tokens";
  command.add_option("--tokenizer", options.tokenizer, "Model directory that has the tokenizer")
      ->type_name("DIR")
      ->group(group);
  command
      .add_option(
          "--template", options.chatTemplate,
          "Chat template by its name, e.g. granite-3, or spnl-granite, spnl-llama-3, spnl-chatml for the "
          "turns as SPNL writes them; without it the directory's own")
      ->type_name("NAME")
      ->group(group);
  command.add_option("--block", options.blockSize, "Tokens of a block")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str()
      ->group(group);
  command.add_option("--pad", options.pad, "Id that fills up blocks")->type_name("ID")->group(group);
  command.add_option("--plus", options.plus, "Id that begins a child of plus")->type_name("ID")->group(group);
  command.add_option("--cross", options.cross, "Id that begins the last child of cross")
      ->type_name("ID")
      ->group(group);
}

ExitCode writeTokens(const query::Node& query, const TokenExportOptions& options, const std::string& name,
                     const Streams& streams) {
  // A body that the server takes is sent as it is, empty messages included.
  const plan::spnl::ServerBodies bodies =
      plan::spnl::isServerBody(query) ? plan::spnl::ServerBodies{.bodies = {{{}, query}}, .withheld = {}}
                                      : plan::spnl::serverBodies(query);
  noteWithheld(bodies, name, streams);
  if (bodies.bodies.empty()) return ExitCode::WrongInput;
  const BodyWriter writer(options);
  for (const plan::spnl::ServerBody& body : bodies.bodies)
    streams.out << nlohmann::json{{"ids", writer.idsOf(body.body)}}.dump() << '\n';
  return ExitCode::Fine;
}

}  // namespace spanscope::cli
