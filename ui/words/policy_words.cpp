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
    QT_TRANSLATE_NOOP("Policies", "share of tokens"),
    QT_TRANSLATE_NOOP("Policies", "check layer"),
    QT_TRANSLATE_NOOP("Policies", "by deviation of"),
    QT_TRANSLATE_NOOP("Policies", "layers that filter"),
    QT_TRANSLATE_NOOP(
        "Policies",
        "Which share of the documents' tokens is computed again in view of all before them, 0 to 1"),
    QT_TRANSLATE_NOOP(
        "Policies",
        "The layer in which tokens are chosen, from 0; layers before it are computed for all tokens"),
    QT_TRANSLATE_NOOP(
        "Policies",
        "What is compared with what is stored: keys, as LMCache does, or values, as CacheBlend's code does"),
    QT_TRANSLATE_NOOP(
        "Policies",
        "In how many layers, the check layer the first, tokens are left out until the share is reached"),
    QT_TRANSLATE_NOOP("Policies",
                      "As spans, and the share r of tokens that deviate most are computed again in view of "
                      "all before them"),
    QT_TRANSLATE_NOOP("Policies", "blocks read"),
    QT_TRANSLATE_NOOP(
        "Policies",
        "How many blocks each generated token reads, in each layer and for each key head; the first and "
        "the last are always among them"),
    QT_TRANSLATE_NOOP(
        "Policies",
        "As spans, and each generated token reads only the b blocks that its queries could match best"),
    QT_TRANSLATE_NOOP("Policies",
                      "As spans, and the generates of a plus run in step, each reading what the others have "
                      "written so far"),
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
