// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/words/policy_words.h"

#include <QCoreApplication>

#include <algorithm>
#include <array>
#include <string_view>

namespace spanscope::ui {
namespace {

/// What policies say of themselves, for the translator; the engine knows no languages.
constexpr std::array kWords = {
    QT_TRANSLATE_NOOP("Policies", "Children of a plus are computed by themselves and reused in any order"),
    QT_TRANSLATE_NOOP("Policies", "What a stock server does: only the longest common beginning is reused"),
    QT_TRANSLATE_NOOP("Policies", "tokens of each document"),
    QT_TRANSLATE_NOOP(
        "Policies",
        "How many tokens at the beginning of each document are computed again in view of all before"),
    QT_TRANSLATE_NOOP(
        "Policies",
        "As spans, and the first n tokens of each document are computed again in view of all before them"),
    QT_TRANSLATE_NOOP("Policies",
                      "Children of a plus see the prompt before their plus and themselves, and are reused "
                      "behind the same prompt"),
    QT_TRANSLATE_NOOP("Policies",
                      "As spans, but all children of a plus stand at one position: what relocation is worth"),
};

}  // namespace

QString policyWord(const char* text) {
  return QCoreApplication::translate("Policies", text);
}

bool isPolicyWord(const char* text) {
  return std::any_of(kWords.begin(), kWords.end(),
                     [text](const char* word) { return std::string_view(word) == text; });
}

}  // namespace spanscope::ui
