// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/export_options.h"

#include "app/cli/option_values.h"
#include "app/cli/session_options.h"
#include "engine/base/error.h"
#include "engine/base/problem_sentence.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"

#include <CLI/CLI.hpp>

#include <limits>
#include <utility>

namespace spanscope::cli {

void addRequestOptions(CLI::App& command, RequestExportOptions& options) {
  command
      .add_option("--endpoint", options.endpoint,
                  "Address of the server's endpoint (default: the endpoint of the target at localhost:8000)")
      ->type_name("URL")
      ->group(kRequestGroup);
  command.add_flag("--no-stream", options.inOnePiece, "Request the whole answer without a stream")
      ->group(kRequestGroup);
  addNumber(command, "--seed", options.seed,
            "Seed of the run, from which each request gets its own seed (default: the server chooses)",
            kAnySeed)
      ->group(kChatGroup);
}

void addStageOption(CLI::App& command, std::string& stage) {
  command
      .add_option("--stage", stage,
                  "Form of the query: \"read\" (not rewritten), \"simplified\" (one round of IBM/spnl's "
                  "simplify), \"optimized\" (IBM/spnl's optimizer) or \"lowered\". The form \"lowered\" is "
                  "one line for each call to IBM/spnl's query endpoint")
      ->check(oneOf({"read", "simplified", "optimized", "lowered"}))
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
          return problemSentence(failure.error().found, failure.error().expected);
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
  command.add_option("--tokenizer", options.tokenizer, "Model folder or GGUF file with the tokenizer")
      ->type_name("DIR")
      ->group(group);
  addTemplateOption(command, options.chatTemplate,
                    "Name of the chat template, e.g. granite-3 (default: the template of the model). The "
                    "templates spnl-granite, spnl-llama-3 and spnl-chatml write turns as SPNL does")
      ->group(group);
  addNumber(command, "--block", options.blockSize, "Tokens per block", {1, 1 << 20})->group(group);
  constexpr Range<TokenId> kIds{.least = 0, .most = std::numeric_limits<TokenId>::max()};
  addNumber(command, "--pad", options.pad, "Token id for padding", kIds)->group(group);
  addNumber(command, "--plus", options.plus, "Token id before each child of plus", kIds)->group(group);
  addNumber(command, "--cross", options.cross, "Token id before the last child of cross", kIds)->group(group);
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
