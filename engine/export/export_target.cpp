// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/export/export_target.h"

#include "engine/base/translation.h"
#include "engine/export/chat_requests.h"
#include "engine/query/json/json.h"
#include "engine/query/query_form.h"
#include "engine/spnl/optimize.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <stdexcept>

namespace spanscope::exports {
namespace {

using query::QueryForm;
using Written = std::variant<ExportedText, Error>;

std::string callLines(const query::Node& query) {
  std::string text;
  for (const spnl::ServerBody& body : spnl::serverBodies(query).bodies)
    text += query::writeAsReference(body.body) + "\n";
  return text;
}

std::string wholeText(const query::Node& query, QueryForm form, bool oneLine) {
  if (form != QueryForm::Json) return query::writeQuery(query, form);
  return oneLine ? query::writeAsReference(query) : query::writePretty(query);
}

/// The query after the chosen stage, in one of SPNL's forms.
template <QueryForm form>
Written writeWhole(const query::Node& query, const ExportSettings& settings) {
  if (settings.stage == ExportStage::Lowered) return ExportedText{.text = callLines(query)};
  spnl::Rewritten written{.query = query, .problem = {}};
  if (settings.stage == ExportStage::Simplified) written = spnl::simplifyOnce(query);
  if (settings.stage == ExportStage::Optimized) written = spnl::optimize(query);
  if (!written.query) return *written.problem;
  return ExportedText{.text = wholeText(*written.query, form, settings.oneLine)};
}

std::string_view endpointOf(const ExportSettings& settings, std::string_view standard) {
  return settings.endpoint.empty() ? standard : std::string_view(settings.endpoint);
}

template <std::string (*write)(std::string_view body, std::string_view endpoint, bool stream)>
Written writeRequest(const query::Node& query, const ExportSettings& settings) {
  const query::Node request = spnl::requestFor(query);
  const bool stream = settings.stream && !spnl::wantsOneToken(request);
  return ExportedText{
      .text = write(query::writeCanonical(request), endpointOf(settings, spnl::kDefaultEndpoint), stream)};
}

Written writeChat(const query::Node& query, const ExportSettings& settings) {
  const ChatRequests made = chatRequests(query, settings.seed);
  if (made.requests.empty()) return ExportedText{};
  return ExportedText{.text = writeChatRequests(made.requests, !settings.oneLine)};
}

Written writeChatCurl(const query::Node& query, const ExportSettings& settings) {
  const ChatRequests made = chatRequests(query, settings.seed);
  return ExportedText{.text = writeChatCommands(made.requests, endpointOf(settings, kDefaultChatEndpoint))};
}

Written writeTokens(const query::Node& query, const ExportSettings& settings) {
  if (settings.tokenizer == nullptr || settings.chat == nullptr)
    throw std::invalid_argument("tokens need a tokenizer and a template");
  ExportedText made;
  for (const spnl::CallTokens& call :
       spnl::promptTokens(query, *settings.tokenizer, *settings.chat, settings.tokens, settings.stop)) {
    if (settings.stop.stop_requested()) break;
    made.text += settings.oneLine ? spnl::tokensOnOneLine(call) + "\n"
                                  : spnl::tokensByBlock(call, settings.tokens.blockSize);
    made.prompts += call.prompts.size();
    for (const std::vector<TokenId>& prompt : call.prompts) made.tokens += prompt.size();
  }
  return made;
}

constexpr unsigned allOf(std::initializer_list<ExportOption> options) {
  unsigned bits = 0;
  for (const ExportOption option : options) bits |= 1U << static_cast<unsigned>(option);
  return bits;
}

using enum ExportOption;

constexpr std::array kTargets{
    ExportTarget{
        .name = "chat",
        .title = forTranslation("Export", "Chat messages"),
        .help = forTranslation("Export",
                               "Chat completions. Nearly every server accepts this form, for example vLLM, "
                               "SGLang, llama-server and Ollama. Several requests become a batch file with "
                               "one line for each request."),
        .suffix = ".json",
        .part = "-chat",
        .isJson = true,
        .isRequest = true,
        .target = Target::Chat,
        .options = allOf({Model, Seed}),
        .write = &writeChat},
    ExportTarget{.name = "chat-curl",
                 .title = forTranslation("Export", "Chat curl line"),
                 .help = forTranslation(
                     "Export",
                     "A shell command that sends the chat messages to any server with OpenAI's API. "
                     "Several requests become several commands. Put each answer in the place of "
                     "its placeholder."),
                 .suffix = ".sh",
                 .part = "-chat",
                 .isRequest = true,
                 .endpoint = kDefaultChatEndpoint,
                 .target = Target::Chat,
                 .options = allOf({Model, Seed, Endpoint}),
                 .write = &writeChatCurl},
    ExportTarget{
        .name = "spnl",
        .title = forTranslation("Export", "SPNL JSON"),
        .help = forTranslation(
            "Export",
            "The whole query as JSON, for IBM/spnl and Spanscope. The last stage has the calls for a server "
            "with span support."),
        .suffix = ".json",
        .isJson = true,
        .target = Target::Query,
        .options = allOf({Stage, Lowering, OneLine, Model}),
        .write = &writeWhole<QueryForm::Json>},
    ExportTarget{.name = "yaml",
                 .title = forTranslation("Export", "SPNL YAML"),
                 .help = forTranslation("Export", "The query as YAML, for IBM/spnl."),
                 .suffix = ".yaml",
                 .target = Target::Yaml,
                 .options = allOf({Stage, Model}),
                 .write = &writeWhole<QueryForm::Yaml>},
    ExportTarget{
        .name = "lisp",
        .title = forTranslation("Export", "SPNL Lisp"),
        .help = forTranslation("Export", "The query in the form of IBM/spnl's macro, for Rust programs."),
        .suffix = ".lisp",
        .target = Target::Lisp,
        .options = allOf({Stage, Model}),
        .write = &writeWhole<QueryForm::Lisp>},
    ExportTarget{
        .name = "curl",
        .title = forTranslation("Export", "Span curl line"),
        .help = forTranslation(
            "Export",
            "A shell command that sends the query as one request to vLLM with the span patch of IBM/spnl. "
            "Other servers refuse this request."),
        .suffix = ".sh",
        .isRequest = true,
        .endpoint = spnl::kDefaultEndpoint,
        .target = Target::Request,
        .options = allOf({Model, Endpoint, Stream}),
        .write = &writeRequest<&spnl::curlLine>},
    ExportTarget{.name = "python",
                 .title = forTranslation("Export", "Span Python program"),
                 .help = forTranslation(
                     "Export",
                     "A program that sends the query as one request to vLLM with the span patch of IBM/spnl. "
                     "Other servers refuse this request."),
                 .suffix = ".py",
                 .isRequest = true,
                 .endpoint = spnl::kDefaultEndpoint,
                 .target = Target::Request,
                 .options = allOf({Model, Endpoint, Stream}),
                 .write = &writeRequest<&spnl::pythonProgram>},
    ExportTarget{
        .name = "tokens",
        .title = forTranslation("Export", "Prompt tokens"),
        .help = forTranslation("Export",
                               "Token ids for a server with span support: the template's text, padded to "
                               "blocks. A delimiter token precedes each span. Each line is a block."),
        .suffix = ".json",
        .part = "-tokens",
        .isJson = true,
        .target = Target::Tokens,
        .options = allOf({Tokens}),
        .write = &writeTokens}};

}  // namespace

std::span<const ExportTarget> exportTargets() {
  return kTargets;
}

const ExportTarget* findExportTarget(std::string_view name) {
  const auto found = std::ranges::find(kTargets, name, &ExportTarget::name);
  return found == kTargets.end() ? nullptr : &*found;
}

std::vector<std::string> targetsWith(ExportOption option) {
  std::vector<std::string> names;
  for (const ExportTarget& target : kTargets) {
    if (target.has(option)) names.emplace_back(target.name);
  }
  return names;
}

std::vector<TargetRemark> exportRemarks(const query::Node& query, const ExportTarget& target,
                                        const ExportSettings& settings) {
  const bool isLowered = settings.stage == ExportStage::Lowered;
  // The text then has the same bytes as the text of IBM/spnl.
  const bool isExact = target.has(OneLine) && (settings.oneLine || isLowered);
  return targetRemarks(query, isLowered ? Target::Calls : target.target,
                       {.stage = settings.stage,
                        .hasPlusMarker = settings.tokens.plus.has_value(),
                        .hasCrossMarker = settings.tokens.cross.has_value(),
                        .isSentHere = settings.isSentHere,
                        .leavesOutNulls = isExact});
}

}  // namespace spanscope::exports
