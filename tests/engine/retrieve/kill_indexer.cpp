// SPDX-License-Identifier: GPL-3.0-or-later
// kill_indexer INDEX COUNT SEED [DAY]: indexes generated documents one after the other with vectors and
// summaries, each call a few of them, so that it is likely to be killed within a transaction. Says "begin"
// first and "end" at its end. DAY: that is today, so that what was used long before is taken out.
#include "engine/retrieve/passage_index.h"
#include "engine/text/tokenizer.h"
#include "tests/engine/retrieve/generated_documents.h"
#include "tests/engine/retrieve/stand_ins.h"

#include <algorithm>
#include <exception>
#include <iostream>
#include <string>

using namespace spanscope;
using namespace spanscope::retrieve;

int main(int argc, char** argv) try {
  if (argc != 4 && argc != 5) return 2;
  const auto tokenizer = text::loadTokenizer(SPANSCOPE_SOURCE_DIR "/resources/models/spanlet");
  const auto generated = retrieve::test::generateDocuments(std::stoul(argv[2]), std::stoull(argv[3]));
  std::cout << "begin" << std::endl;
  KeepRule rule;
  if (argc == 5) rule.today = [day = std::stoll(argv[4])] { return day; };
  PassageIndex index(argv[1], rule);
  retrieve::test::WordEmbedder embedder;
  retrieve::test::FirstWords summarizer;
  for (std::size_t first = 0; first < generated.documents.size(); first += 5) {
    const auto begin = generated.documents.begin() + static_cast<std::ptrdiff_t>(first);
    const std::size_t count = std::min<std::size_t>(5, generated.documents.size() - first);
    const auto indexed = index.add({begin, begin + static_cast<std::ptrdiff_t>(count)}, *tokenizer,
                                   {.chunk = {}, .summarizer = &summarizer});
    index.embed(indexed.keys, embedder);
  }
  std::cout << "end" << std::endl;
  return 0;
} catch (const std::exception& problem) {
  std::cerr << problem.what() << '\n';
  return 1;
}
