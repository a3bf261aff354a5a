// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/words/experiment_words.h"

#include <QCoreApplication>

#include <algorithm>
#include <array>
#include <string_view>

namespace spanscope::ui {
namespace {

constexpr const char* kContext = "Experiments";

/// What experiments say of themselves, for the translator; the engine knows no languages.
constexpr std::array kWords = {
    QT_TRANSLATE_NOOP("Experiments", "Time to first token of RAG"),
    QT_TRANSLATE_NOOP("Experiments",
                      "How long does the first token take over more and more documents, with an empty cache "
                      "and with documents that an earlier question brought, in reversed order?"),
    QT_TRANSLATE_NOOP("Experiments", "documents"),
    QT_TRANSLATE_NOOP("Experiments", "Documents"),
    QT_TRANSLATE_NOOP("Experiments", "How many stand under the plus"),
    QT_TRANSLATE_NOOP("Experiments", "Words a document"),
    QT_TRANSLATE_NOOP("Experiments", "About so many, to whole sentences"),
    QT_TRANSLATE_NOOP("Experiments", "Policies"),
    QT_TRANSLATE_NOOP("Experiments",
                      "Two lines each: with an empty cache, and with the documents seen before"),
    QT_TRANSLATE_NOOP("Experiments", "time to first token"),
    QT_TRANSLATE_NOOP("Experiments", "prompt found"),
    QT_TRANSLATE_NOOP("Experiments", "Time to first token of a judge"),
    QT_TRANSLATE_NOOP(
        "Experiments",
        "Candidates are generated and then judged together: how long does the judge's first token take over "
        "more and more of them, counted from the moment the last candidate is there?"),
    QT_TRANSLATE_NOOP("Experiments", "inner generates"),
    QT_TRANSLATE_NOOP("Experiments", "Inner generates"),
    QT_TRANSLATE_NOOP("Experiments", "How many candidates the judge reads"),
    QT_TRANSLATE_NOOP("Experiments", "Words a prompt"),
    QT_TRANSLATE_NOOP("Experiments", "Of each inner prompt, about so many"),
    QT_TRANSLATE_NOOP("Experiments", "Tokens a candidate"),
    QT_TRANSLATE_NOOP("Experiments", "Most that each inner generate gives"),
    QT_TRANSLATE_NOOP("Experiments", "Temperature, hundredths"),
    QT_TRANSLATE_NOOP("Experiments",
                      "Of the inner generates; at 0 every candidate of a repeat is the one before"),
    QT_TRANSLATE_NOOP("Experiments", "A line each"),
    QT_TRANSLATE_NOOP("Experiments", "judge's prompt found"),
    QT_TRANSLATE_NOOP("Experiments", "Cost of relocation"),
    QT_TRANSLATE_NOOP("Experiments",
                      "Does it cost anything that cached documents stand in another order? The same and the "
                      "swapped order, each time with a new question, beside an empty cache."),
    QT_TRANSLATE_NOOP("Experiments", "tokens a document"),
    QT_TRANSLATE_NOOP("Experiments", "Tokens a document"),
    QT_TRANSLATE_NOOP("Experiments", "Made-up documents from short to long"),
    QT_TRANSLATE_NOOP("Experiments", "How many change places"),
    QT_TRANSLATE_NOOP("Experiments", "Tokens of the question"),
    QT_TRANSLATE_NOOP("Experiments", "New in every run"),
    QT_TRANSLATE_NOOP("Experiments", "Fidelity by policy"),
    QT_TRANSLATE_NOOP("Experiments",
                      "How close are answers under each policy to those of a full prefill of the same "
                      "tokens, over more and more documents?"),
    QT_TRANSLATE_NOOP("Experiments", "Of two sentences each; every second question needs two of them"),
    QT_TRANSLATE_NOOP("Experiments", "KL a token"),
    QT_TRANSLATE_NOOP("Experiments", "greedy tokens that agree"),
    QT_TRANSLATE_NOOP("Experiments", "same answers"),
    QT_TRANSLATE_NOOP("Experiments", "attention deviation"),
    QT_TRANSLATE_NOOP("Experiments", "Accuracy by policy"),
    QT_TRANSLATE_NOOP("Experiments",
                      "How many questions are answered right under each policy, over more and more documents "
                      "of which one or two are needed?"),
    QT_TRANSLATE_NOOP("Experiments", "answered right"),
    QT_TRANSLATE_NOOP("Experiments", "answers that hold the right one"),
    QT_TRANSLATE_NOOP("Experiments", "What recomputing repairs"),
    QT_TRANSLATE_NOOP(
        "Experiments",
        "How much nearer does a reply come to that of a full prefill, and how much later, the more of "
        "its documents' tokens link and blend compute again?"),
    QT_TRANSLATE_NOOP("Experiments", "tokens computed again, %"),
    QT_TRANSLATE_NOOP("Experiments", "Shares"),
    QT_TRANSLATE_NOOP(
        "Experiments",
        "Of the documents' tokens, in percent, that are computed again in view of all before them"),
    QT_TRANSLATE_NOOP("Experiments", "Needles with attention locality"),
    QT_TRANSLATE_NOOP("Experiments",
                      "Names hidden among more and more words: does reading documents in portions of k, "
                      "whose lists are then combined, find more of them than reading all at once?"),
    QT_TRANSLATE_NOOP("Experiments", "words of hay a document"),
    QT_TRANSLATE_NOOP("Experiments", "Words of hay"),
    QT_TRANSLATE_NOOP("Experiments", "In each document, to whole sentences"),
    QT_TRANSLATE_NOOP("Experiments", "Documents read at once"),
    QT_TRANSLATE_NOOP("Experiments", "A line each: k of attention locality; 0: all of them at once"),
    QT_TRANSLATE_NOOP("Experiments", "Each with one name"),
    QT_TRANSLATE_NOOP("Experiments", "good runs"),
    QT_TRANSLATE_NOOP("Experiments", "names found"),
    QT_TRANSLATE_NOOP("Experiments", "whole run"),
    QT_TRANSLATE_NOOP("Experiments", "Conversation with retrieval"),
    QT_TRANSLATE_NOOP("Experiments",
                      "How much of the prompt is found, and how soon does the first token come, turn by turn "
                      "of conversations to each of whose questions other passages were retrieved?"),
    QT_TRANSLATE_NOOP("Experiments", "turn"),
    QT_TRANSLATE_NOOP("Experiments", "Turns"),
    QT_TRANSLATE_NOOP("Experiments", "Most of each conversation, which ends where it does"),
    QT_TRANSLATE_NOOP("Experiments", "A line each, in each order"),
    QT_TRANSLATE_NOOP("Experiments", "Order of the prompt"),
    QT_TRANSLATE_NOOP("Experiments",
                      "A line each: what was said before the passages (history-first), behind them "
                      "(passages-first), or all "
                      "passages so far, each before its question (passages-kept)"),
    QT_TRANSLATE_NOOP("Experiments", "Words a passage"),
    QT_TRANSLATE_NOOP("Experiments", "Most of each, from its beginning"),
    QT_TRANSLATE_NOOP("Experiments", "Folder of the conversations"),
    QT_TRANSLATE_NOOP("Experiments",
                      "Where the conversations of MTRAG lie, or their file; empty: mtrag in the folder of "
                      "published data, SPANSCOPE_GOLDEN_DIR"),
    QT_TRANSLATE_NOOP("Experiments", "prompt"),
    QT_TRANSLATE_NOOP("Experiments", "passages retrieved before"),
    QT_TRANSLATE_NOOP("Experiments", "Loading against computing"),
    QT_TRANSLATE_NOOP(
        "Experiments",
        "Is keeping blocks worth it? The time until the logits behind a document are there: computed, or "
        "loaded from host memory, from the disk, and from a disk whose file the system has forgotten."),
    QT_TRANSLATE_NOOP("Experiments", "Folder for blocks"),
    QT_TRANSLATE_NOOP("Experiments",
                      "On the disk that is measured; what is stored there for a while is removed. Empty: "
                      "where the span store lies"),
    QT_TRANSLATE_NOOP("Experiments", "until the document is read"),
    QT_TRANSLATE_NOOP("Experiments", "times as fast as computing"),
    QT_TRANSLATE_NOOP("Experiments", "loaded"),
    QT_TRANSLATE_NOOP("Experiments", "loading alone"),
    QT_TRANSLATE_NOOP("Experiments", "Cropping against none"),
    QT_TRANSLATE_NOOP(
        "Experiments",
        "Names listed from portions of the documents, whose lists are then combined: what is lost where "
        "replies are cropped to whole blocks, and what do pads and markers add?"),
    QT_TRANSLATE_NOOP("Experiments", "block size, tokens"),
    QT_TRANSLATE_NOOP("Experiments", "Block sizes"),
    QT_TRANSLATE_NOOP("Experiments", "Tokens a block: what does not fill one is cropped"),
    QT_TRANSLATE_NOOP("Experiments",
                      "Whose lists of names are combined: they are the replies that are cropped"),
    QT_TRANSLATE_NOOP("Experiments", "answers as with the exact layout"),
    QT_TRANSLATE_NOOP("Experiments", "tokens cropped a run"),
    QT_TRANSLATE_NOOP("Experiments", "tokens against exact"),
    QT_TRANSLATE_NOOP("Experiments", "Needle by depth and length"),
    QT_TRANSLATE_NOOP(
        "Experiments",
        "Where in a long prompt is a name still found? Each document names one; all at once, and in portions "
        "of k whose lists are then combined, over the length of the hay and the depth of the name."),
    QT_TRANSLATE_NOOP("Experiments", "depth, %"),
    QT_TRANSLATE_NOOP("Experiments", "A map each: k of attention locality; 0: all of them at once"),
    QT_TRANSLATE_NOOP("Experiments", "Depths"),
    QT_TRANSLATE_NOOP(
        "Experiments",
        "In percent: 0 is the first document, 100 the last; what lies between is the nearest one"),
    QT_TRANSLATE_NOOP("Experiments", "Maps for each"),
    QT_TRANSLATE_NOOP("Experiments", "KL of each token"),
    QT_TRANSLATE_NOOP("Experiments", "Reuse by length, order and block size"),
    QT_TRANSLATE_NOOP(
        "Experiments",
        "How much of a prompt over documents that were seen is found, with another question, over "
        "the documents' length: in which order they stand, and how many tokens a block has."),
    QT_TRANSLATE_NOOP("Experiments", "words a document"),
    QT_TRANSLATE_NOOP("Experiments", "Order of the documents"),
    QT_TRANSLATE_NOOP(
        "Experiments",
        "A line each: as they were seen (same), from the last to the first (reversed), drawn for each repeat "
        "(shuffled)"),
    QT_TRANSLATE_NOOP("Experiments", "Tokens a block"),
    QT_TRANSLATE_NOOP("Experiments", "A line each, in each order and with each block size"),
    QT_TRANSLATE_NOOP("Experiments", "Further models"),
    QT_TRANSLATE_NOOP(
        "Experiments",
        "Directories with commas between them: the lines of each stand beside those of the chosen model"),
    QT_TRANSLATE_NOOP("Experiments", "line"),
    QT_TRANSLATE_NOOP("Experiments", "samples"),
    QT_TRANSLATE_NOOP("Experiments", "spread"),
};

}  // namespace

QString experimentWord(const char* text) {
  return QCoreApplication::translate(kContext, text);
}

bool isExperimentWord(const char* text) {
  return std::any_of(kWords.begin(), kWords.end(),
                     [text](const char* word) { return std::string_view(word) == text; });
}

}  // namespace spanscope::ui
