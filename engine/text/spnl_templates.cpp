// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/spnl_templates.h"

#include <string>
#include <utility>

namespace spanscope::text {
namespace {

constexpr query::Role kRoles[] = {query::Role::System, query::Role::User, query::Role::Assistant};

/// The differences between the families: the text before the name of the role, after the name, and at the
/// end.
struct Marks {
  std::string name;
  std::string begin;
  std::vector<TemplatePiece> afterRole;
  std::string end;
  Trim trim = Trim::Nothing;
  std::vector<TemplatePiece> afterReplyRole;  ///< in the generation prompt
};

ChatTemplate templateOf(const Marks& marks) {
  ChatTemplate chat;
  chat.name = marks.name;
  const auto opened = [&marks](const std::string& role, const std::vector<TemplatePiece>& after) {
    std::vector<TemplatePiece> pieces{{true, marks.begin}, {false, role}};
    pieces.insert(pieces.end(), after.begin(), after.end());
    return pieces;
  };
  for (const query::Role role : kRoles) {
    chat.turns[static_cast<std::size_t>(role)] =
        TurnForm{opened(query::roleName(role), marks.afterRole), {{true, marks.end}}, marks.trim};
  }
  chat.generationPrompt = opened("assistant", marks.afterReplyRole);
  chat.replySuffix = {{true, marks.end}};
  return chat;
}

std::vector<ChatTemplate> makeTemplates() {
  const TemplatePiece roleEnd{true, "<|end_of_role|>"};
  const TemplatePiece headerEnd{true, "<|end_header_id|>"};
  const TemplatePiece blankLine{false, "\n\n"};
  return {
      templateOf(
          {"spnl-granite", "<|start_of_role|>", {roleEnd}, "<|end_of_text|>", Trim::Nothing, {roleEnd}}),
      templateOf({"spnl-llama-3",
                  "<|start_header_id|>",
                  {headerEnd, blankLine},
                  "<|eot_id|>",
                  Trim::UnicodeBoth,
                  {headerEnd, blankLine}}),
      templateOf({"spnl-chatml", "<|im_start|>", {{false, "\n"}}, "<|im_end|>", Trim::Nothing, {}}),
  };
}

}  // namespace

const std::vector<ChatTemplate>& spnlChatTemplates() {
  static const std::vector<ChatTemplate> kTemplates = makeTemplates();
  return kTemplates;
}

}  // namespace spanscope::text
