// SPDX-License-Identifier: GPL-3.0-or-later
// The causes about inputs other than messages: model, cache salt, adapter, images and tools.
#include "engine/base/translation.h"
#include "engine/doctor/causes/cause_rows.h"
#include "engine/doctor/prompt_tokens.h"
#include "engine/doctor/redaction.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace spanscope::doctor {
namespace {

bool isModelChanged(const Difference& d, std::size_t, Finding& finding) {
  const std::string& before = d.before->servedModel();
  const std::string& now = d.now->servedModel();
  if (before == now) return false;
  // The names in the requests are the names that the user knows.
  const bool differsInRequest = d.before->model != d.now->model;
  finding.before = redacted(differsInRequest ? d.before->model : before);
  finding.after = redacted(differsInRequest ? d.now->model : now);
  return true;
}

bool isOtherInput(const Difference& d, std::size_t, Finding& finding) {
  if (d.before->salt != d.now->salt) {
    finding.detail = "salt";
    return true;
  }
  if (d.before->adapter != d.now->adapter) {
    finding.detail = "adapter";
    finding.before = redacted(d.before->adapter);
    finding.after = redacted(d.now->adapter);
    return true;
  }
  if (d.change != Difference::Change::Edited || d.nowSection < 0 || d.beforeSection < 0) return false;
  const auto partsOf = [](const LoggedRequest& request, std::int32_t section) -> const std::vector<Part>* {
    const auto index = static_cast<std::size_t>(section);
    return index < request.messages.size() ? &request.messages[index].parts : nullptr;
  };
  const auto* one = partsOf(*d.before, d.beforeSection);
  const auto* other = partsOf(*d.now, d.nowSection);
  if (one == nullptr || other == nullptr) return false;
  for (std::size_t i = 0; i < std::max(one->size(), other->size()); ++i) {
    const bool isFirst = i >= one->size() || i >= other->size() || (*one)[i] != (*other)[i];
    if (!isFirst) continue;
    const bool isImage = (i < one->size() && (*one)[i].kind == Part::Kind::Image) ||
                         (i < other->size() && (*other)[i].kind == Part::Kind::Image);
    if (isImage) finding.detail = "image";
    return isImage;
  }
  return false;
}

std::string namesOf(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return redacted(text);
}

bool isTools(const Difference& d, std::size_t, Finding& finding) {
  if (d.nowSection != kToolsSection) return false;
  std::map<std::string, std::string> before;
  std::vector<std::string> added;
  std::vector<std::string> changed;
  for (const Tool& tool : d.before->tools) before.emplace(tool.name, tool.text);
  std::set<std::string> kept;
  for (const Tool& tool : d.now->tools) {
    const auto found = before.find(tool.name);
    if (found == before.end()) {
      added.push_back(tool.name);
    } else {
      kept.insert(tool.name);
      if (found->second != tool.text) changed.push_back(tool.name);
    }
  }
  std::vector<std::string> removed;
  for (const auto& [name, text] : before)
    if (!kept.contains(name)) removed.push_back(name);
  const bool isSameList = d.before->tools.size() == d.now->tools.size() &&
                          std::ranges::equal(d.before->tools, d.now->tools, {}, &Tool::name, &Tool::name);
  // Equal names in equal order: the rules about texts know more.
  if (isSameList && !changed.empty()) return false;
  const auto add = [&](const char* what, const std::vector<std::string>& names) {
    if (!names.empty())
      finding.detail += (finding.detail.empty() ? "" : "; ") + std::string(what) + namesOf(names);
  };
  add("added: ", added);
  add("removed: ", removed);
  add("changed: ", changed);
  if (finding.detail.empty()) finding.detail = "other order";
  return true;
}

}  // namespace

Cause modelCause() {
  return {.id = CauseId::ModelChanged,
          .key = "model",
          .name = forTranslation("Causes", "other model"),
          .sentence = forTranslation("Causes", "The request uses a different model."),
          .example = "small-model → large-model",
          .cure = forTranslation("Causes", "Use the same model for all requests of a conversation."),
          .isEdit = true,
          .matches = isModelChanged,
          .explains = nullptr};
}

Cause otherInputCause() {
  return {.id = CauseId::OtherInput,
          .key = "other_input",
          .name = forTranslation("Causes", "image, salt or adapter"),
          .sentence = forTranslation("Causes", "The request has a different image, cache salt or adapter."),
          .example = "salt a → salt b",
          .cure = forTranslation("Causes",
                                 "Keep the salt and the adapter. Put new images at the end of the prompt."),
          .isEdit = true,
          .matches = isOtherInput,
          .explains = nullptr};
}

Cause toolsCause() {
  return {.id = CauseId::Tools,
          .key = "tools",
          .name = forTranslation("Causes", "tools changed"),
          .sentence = forTranslation("Causes", "The tool definitions changed or have another order."),
          .example = "added: search",
          .cure = forTranslation("Causes", "Send all tools in the same order in every request."),
          .isEdit = true,
          .matches = isTools,
          .explains = nullptr};
}

}  // namespace spanscope::doctor
