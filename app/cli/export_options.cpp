// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/export_options.h"

#include "app/cli/number_option.h"
#include "app/cli/session_options.h"
#include "engine/base/error.h"
#include "engine/plan/planner.h"
#include "engine/spnl/request_text.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <limits>
#include <utility>

namespace spanscope::cli {

void addRequestOptions(CLI::App& command, RequestExportOptions& options) {
  options.endpoint = spnl::kDefaultEndpoint;
  command.add_option("--endpoint", options.endpoint, "Address of the server's query endpoint")
      ->type_name("URL")
      ->capture_default_str()
      ->group(kRequestGroup);
  command.add_flag("--no-stream", options.inOnePiece, "Ask for the reply in one piece")->group(kRequestGroup);
  addNumber(command, "--seed", options.seed,
            "Seed of the run: each request has its own number made from it; without, the server chooses",
            kAnySeed)
      ->group(kChatGroup);
}

void addStageOption(CLI::App& command, std::string& stage) {
  command
      .add_option(
          "--stage", stage,
          "The query as it was read, after one round of the reference's simplify (simplified), after "
          "its whole optimizer (optimized), or one line for each bulk call that the server's endpoint "
          "takes (lowered)")
      ->check(CLI::IsMember({"read", "simplified", "optimized", "lowered"}))
      ->capture_default_str();
}

query::Node localized(const query::Node& query, const plan::LocalityOptions& locality,
                      const std::string& name) {
  if (!locality.isOn()) return query;
  plan::LocalizedQuery result = plan::localizedQuery(query, locality);
  if (!result.query) {
    Error& problem = result.problems.front();
    problem.file = name;
    throw Failure(std::move(problem));
  }
  return std::move(*result.query);
}

namespace {

CLI::Validator isTemplateName() {
  return CLI::Validator(
      [](const std::string& name) {
        try {
          text::chatTemplateNamed(name);
        } catch (const Failure& failure) {
          return "found " + failure.error().found + ", expected " + failure.error().expected;
        }
        return std::string();
      },
      "");
}

}  // namespace

CLI::Option* addTemplateOption(CLI::App& command, std::string& name, const char* help) {
  return command.add_option("--template", name, help)->check(isTemplateName())->type_name("NAME");
}

void addTokenOptions(CLI::App& command, TokenExportOptions& options) {
  const char* const group = kTokenGroup;
  command.add_option("--tokenizer", options.tokenizer, "Model directory or GGUF file that has the tokenizer")
      ->type_name("DIR")
      ->group(group);
  addTemplateOption(
      command, options.chatTemplate,
      "Chat template by its name, e.g. granite-3, or spnl-granite, spnl-llama-3, spnl-chatml for "
      "the turns as SPNL writes them; without it the directory's own")
      ->group(group);
  addNumber(command, "--block", options.blockSize, "Tokens of a block", {1, 1 << 20})->group(group);
  constexpr Range<TokenId> kIds{.least = 0, .most = std::numeric_limits<TokenId>::max()};
  addNumber(command, "--pad", options.pad, "Id that fills up blocks", kIds)->group(group);
  addNumber(command, "--plus", options.plus, "Id that begins a child of plus", kIds)->group(group);
  addNumber(command, "--cross", options.cross, "Id that begins the last child of cross", kIds)->group(group);
}

TokenMaker::TokenMaker(const TokenExportOptions& options)
    : m_tokenizer(text::loadTokenizer(options.tokenizer)),
      m_chat(options.chatTemplate.empty() ? text::findChatTemplate(options.tokenizer)
                                          : text::chatTemplateNamed(options.chatTemplate)) {
  const std::int32_t vocabulary = m_tokenizer->vocabularySize();
  checkId("--pad", options.pad.value_or(0), vocabulary);
  if (options.plus) checkId("--plus", *options.plus, vocabulary);
  if (options.cross) checkId("--cross", *options.cross, vocabulary);
}

void TokenMaker::put(exports::ExportSettings& settings) const {
  settings.tokenizer = m_tokenizer.get();
  settings.chat = &m_chat;
}

spnl::PromptTokenOptions promptTokenOptions(const TokenExportOptions& options) {
  return {.blockSize = options.blockSize,
          .pad = options.pad.value_or(0),
          .plus = options.plus,
          .cross = options.cross};
}

}  // namespace spanscope::cli
