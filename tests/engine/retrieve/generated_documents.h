// SPDX-License-Identifier: GPL-3.0-or-later
// Generates documents that are alike, except that each holds one item that no other has.
#pragma once

#include "engine/retrieve/passage.h"

#include <cstddef>
#include <random>
#include <string>
#include <vector>

namespace spanscope::retrieve::test {

/// A word of three syllables for each number below 8000.
inline std::string wordOf(std::size_t number) {
  static const std::vector<std::string> kSyllables = {"ba",  "ke",  "li",  "mo",  "nu",  "pra", "sta",
                                                      "te",  "vo",  "wi",  "zu",  "gra", "del", "fin",
                                                      "hok", "jas", "rem", "sul", "tor", "yev"};
  return kSyllables[number % 20] + kSyllables[number / 20 % 20] + kSyllables[number / 400 % 20];
}

struct KnownItem {
  std::string question;
  std::size_t document = 0;
};

struct GeneratedDocuments {
  std::vector<SourceDocument> documents;
  std::vector<KnownItem> items;  ///< one for each document
};

/// Generates documents. They share the words of the items, but no pair of these words.
inline GeneratedDocuments generateDocuments(std::size_t count, std::uint64_t seed) {
  static const std::vector<std::string> kFiller = {"The lamp gave little light.",
                                                   "The train was late again.",
                                                   "The garden needs water.",
                                                   "A pet is a friend for many years.",
                                                   "Everyone in town plays an instrument.",
                                                   "It rained on Monday."};
  std::mt19937_64 random(seed);
  GeneratedDocuments generated;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string person = wordOf(i % 100 + 1);
    const std::string thing = wordOf(i / 100 * 40 + 4001);
    std::string text;
    const std::size_t place = random() % 30;
    for (std::size_t sentence = 0; sentence < 30; ++sentence) {
      text += sentence == place
                  ? "In year " + std::to_string(1000 + i) + ", " + person + " bought a " + thing + "."
                  : kFiller[random() % kFiller.size()];
      text += ' ';
    }
    generated.documents.push_back({.name = "document-" + std::to_string(i) + ".txt", .bytes = text});
    generated.items.push_back({"When did " + person + " buy the " + thing + "?", i});
  }
  return generated;
}

}  // namespace spanscope::retrieve::test
