// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/node_parts.h"
#include "engine/spnl/change_settings.h"
#include "engine/spnl/model_name.h"
#include "engine/spnl/request_text.h"

namespace spanscope::spnl {

query::Node requestFor(const query::Node& query) {
  query::Node request = query;
  if (const auto* generate = query.as<query::Generate>()) {
    request = query::Node{query::Repeat{.count = std::uint8_t{1}, .generate = *generate}};
  }
  changeSettings(request, [](query::GenerateSettings& settings) {
    if (providerOf(settings.model) == spnl::kSpanProvider)
      settings.model = std::string(nameWithoutProvider(settings.model));
  });
  return request;
}

bool wantsOneToken(const query::Node& request) {
  if (query::mostReplies(request) != query::Arity::kMany) return false;
  const query::GenerateSettings* settings = query::settingsOf(request);
  const auto* tokens = std::get_if<std::int32_t>(&settings->maxTokens);
  return tokens != nullptr && *tokens == 1;
}

}  // namespace spanscope::spnl
