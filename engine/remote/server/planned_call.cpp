// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/server/planned_call.h"

#include "engine/query/diagnostic.h"
#include "engine/query/json/json.h"
#include "engine/query/node_parts.h"
#include "engine/remote/server/api_error.h"
#include "engine/spnl/server_body.h"
#include "engine/text/tokenizer.h"

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace spanscope::server {
namespace {

/// Makes the plan of a call whose query and settings are known.
void makePlanOf(PlannedCall& call, const CallRules& rules) {
  plan::PlanOptions options = rules.plan;
  options.seed = call.options.seed;
  plan::PlanResult result = plan::makePlan(call.query, options);
  if (!result.problems.empty()) {
    const Error& first = result.problems.front();
    refuseField(first.place, first.message());
  }
  call.plan = std::make_shared<const plan::Plan>(std::move(*result.plan));
  call.options.queryJson = query::writeCanonical(call.query);
}

std::optional<std::int32_t> limited(std::optional<std::int32_t> asked, const CallRules& rules,
                                    const char* param) {
  if (asked && rules.mostTokens > 0 && *asked > rules.mostTokens) {
    refuseField(param, std::string("'") + param + "' must be at most " + std::to_string(rules.mostTokens) +
                           ", the limit of this server.");
  }
  return asked;
}

PlannedCall begun(const CallSettings& settings, const CallRules& rules, std::uint64_t randomSeed) {
  PlannedCall call;
  call.model = settings.model;
  call.options = rules.options;
  call.options.seed = settings.seed.value_or(randomSeed);
  call.options.topP = settings.topP;
  call.options.topK = settings.topK;
  if (rules.mostTokens > 0) call.options.maxTokens = rules.mostTokens;
  call.choicesPerPrompt = static_cast<std::size_t>(settings.replies);
  call.stops = settings.stops;
  call.minTokens = settings.minTokens;
  limited(settings.minTokens, rules, "min_tokens");
  call.options.minTokens = settings.minTokens;
  if (settings.ignoresEnd) {
    // The run gets another min number. So the limit must not be below the requested one.
    call.options.minTokens = std::numeric_limits<std::int32_t>::max();
    const std::int32_t usual = call.options.maxTokens > 0 ? call.options.maxTokens : rules.usualTokens;
    call.options.maxTokens = std::max(usual, settings.minTokens);
  }
  call.logprobs = settings.logprobs;
  call.options.alternatives = settings.alternatives;
  call.stream = settings.stream;
  call.includesUsage = settings.includesUsage;
  return call;
}

query::GenerateSettings generateSettings(const CallSettings& settings, const CallRules& rules) {
  query::GenerateSettings generate{.model = settings.model, .maxTokens = {}, .temperature = {}};
  if (const auto most = limited(settings.maxTokens, rules, "max_tokens")) generate.maxTokens = *most;
  generate.temperature = settings.temperature;
  return generate;
}

/// Makes a repeat for several answers to a prompt.
query::Node repeated(query::Generate generate, std::int32_t replies) {
  if (replies == 1) return query::Node{std::move(generate)};
  return query::Node{
      query::Repeat{.count = static_cast<std::uint8_t>(replies), .generate = std::move(generate)}};
}

}  // namespace

const text::ChatTemplate& rawTemplate(const text::ChatTemplate& ofModel) {
  static std::mutex mutex;
  static std::map<std::string, text::ChatTemplate> made;
  // The name alone is not enough: two templates may begin their prompts in different ways.
  const std::string opening = text::spell(ofModel.opening);
  const std::lock_guard lock(mutex);
  text::ChatTemplate& raw = made[opening];
  if (raw.name.empty()) {
    raw.name = "none";
    raw.opening = ofModel.opening;
    for (auto& turn : raw.turns) turn = text::TurnForm{};
  }
  return raw;
}

query::Node chatQuery(const std::vector<query::Message>& messages, const query::GenerateSettings& settings) {
  query::Node input;
  if (messages.size() == 1) {
    input = query::Node{messages.front()};
  } else {
    query::Join join{query::JoinKind::Cross, {}};
    for (const query::Message& message : messages) join.children.push_back(query::Node{message});
    input = query::Node{std::move(join)};
  }
  return query::Node{query::Generate{settings, std::move(input)}};
}

PlannedCall planChat(const ChatCall& call, const CallRules& rules, std::uint64_t randomSeed) {
  PlannedCall planned = begun(call.settings, rules, randomSeed);
  planned.form = AnswerForm::Chat;
  query::Node query = chatQuery(call.messages, generateSettings(call.settings, rules));
  planned.query = repeated(std::move(*query.as<query::Generate>()), call.settings.replies);
  makePlanOf(planned, rules);
  return planned;
}

PlannedCall planCompletion(const CompletionCall& call, const CallRules& rules, const ServedModel& model,
                           std::uint64_t randomSeed) {
  PlannedCall planned = begun(call.settings, rules, randomSeed);
  planned.form = AnswerForm::Completion;
  std::vector<std::string> prompts = call.prompts;
  for (const std::vector<TokenId>& ids : call.tokens) {
    for (const TokenId id : ids) {
      if (id >= model.tokenizer->vocabularySize())
        refuseField("prompt", "The model has no token " + std::to_string(id) + ".");
    }
    std::string text = model.tokenizer->decode(ids);
    // A query contains texts. It cannot express ids that no text has.
    if (model.tokenizer->encode(text) != ids)
      refuseField("prompt",
                  "This server takes prompts of token ids only where their text is encoded to the same ids.",
                  "unsupported_parameter");
    prompts.push_back(std::move(text));
  }
  query::Join join{query::JoinKind::Seq, {}};
  for (std::string& prompt : prompts) {
    if (prompt.empty()) refuseField("prompt", "'prompt' must not be empty.");
    query::Node input{query::Message{query::Role::User, std::move(prompt)}};
    query::Generate generate{generateSettings(call.settings, rules), std::move(input)};
    join.children.push_back(repeated(std::move(generate), call.settings.replies));
  }
  planned.query = join.children.size() == 1 ? std::move(join.children.front()) : query::Node{std::move(join)};
  planned.options.chat = &rawTemplate(*model.chat);
  makePlanOf(planned, rules);
  return planned;
}

PlannedCall planQuery(std::string_view body, const CallRules& rules, std::uint64_t randomSeed) {
  const query::ParseResult parsed = query::parseJson(body);
  if (!parsed.query) {
    for (const query::Diagnostic& diagnostic : parsed.diagnostics) {
      if (diagnostic.severity != Severity::Error) continue;
      refuseField(diagnostic.pointer, diagnostic.located("body"));
    }
    refuseField({}, "The body is no query.");
  }
  const query::Node& query = *parsed.query;
  if (!spnl::isServerBody(query)) {
    refuseField({},
                std::string("The body must be a repeat, a map or a g whose prompt holds messages and joins "
                            "only; this is \"") +
                    query::operatorName(query) +
                    "\". What must be resolved, and replies within prompts, are the client's.");
  }
  const query::GenerateSettings& settings = *query::settingsOf(query);
  PlannedCall call = begun({.model = settings.model}, rules, randomSeed);
  if (const auto* most = std::get_if<std::int32_t>(&settings.maxTokens)) limited(*most, rules, "max_tokens");
  call.query = query;
  const bool isMap = query::inputsOf(query) != nullptr;
  call.form = isMap ? AnswerForm::Completion : AnswerForm::Chat;
  makePlanOf(call, rules);
  call.choicesPerPrompt = isMap ? 1 : std::max<std::size_t>(call.plan->steps.size(), 1);
  return call;
}

}  // namespace spanscope::server
