// SPDX-License-Identifier: GPL-3.0-or-later
// Reading of a query of 10 MB in each of its forms: the median time and its quartiles, and the rate. The aim
// is half a second for JSON.
//
// bench_query [rounds]
#include "engine/query/json/json.h"
#include "engine/query/lisp/lisp.h"
#include "engine/query/yaml/yaml.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

using namespace spanscope::query;

namespace {

constexpr std::size_t kBytes = std::size_t{10} * 1000 * 1000;

/// Judges over documents of a few hundred characters each, until the text is large enough.
Node largeQuery() {
  const std::string text =
      "A document says this and that, in \"quotes\" too, on more than one line,\nas documents do, and it is "
      "long "
      "enough that most of the text is content; then it ends.";
  Join all{JoinKind::Plus, {}};
  for (std::size_t bytes = 0; bytes < kBytes;) {
    Join documents{JoinKind::Plus, {}};
    for (int i = 0; i < 8; ++i) documents.children.push_back({Message{Role::User, text}});
    Join prompt{JoinKind::Cross, {}};
    prompt.children.push_back({Message{Role::System, "Answer from the documents."}});
    prompt.children.push_back({std::move(documents)});
    prompt.children.push_back({Message{Role::User, "What do they say?"}});
    Node judge{Generate{{"spnl/model", 100, 0.5F}, Node{std::move(prompt)}}};
    bytes += writeCanonical(judge).size() + 1;
    all.children.push_back(std::move(judge));
  }
  return {std::move(all)};
}

void measure(const char* form, const std::string& text, int rounds,
             const std::function<ParseResult()>& parse) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> seconds;
  for (int i = 0; i < rounds; ++i) {
    const auto begin = Clock::now();
    const ParseResult result = parse();
    seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
    if (!result.query) {
      std::printf("%-5s refused: %s\n", form, result.diagnostics.front().located({}).c_str());
      return;
    }
  }
  std::sort(seconds.begin(), seconds.end());
  const auto quantile = [&](double at) {
    return seconds[static_cast<std::size_t>(std::lround(at * static_cast<double>(seconds.size() - 1)))];
  };
  const double megabytes = static_cast<double>(text.size()) / 1e6;
  std::printf("%-5s %6.2f MB  median %6.3f s  (quartiles %.3f … %.3f)  %6.1f MB/s\n", form, megabytes,
              quantile(0.5), quantile(0.25), quantile(0.75), megabytes / quantile(0.5));
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 11;
  const Node query = largeQuery();
  const std::string json = writeCanonical(query);
  measure("JSON", json, rounds, [&] { return parseJson(json); });
  const std::string yaml = writeYaml(query);
  measure("YAML", yaml, rounds, [&] { return parseYaml(yaml); });
  const std::string lisp = writeLisp(query);
  measure("Lisp", lisp, rounds, [&] { return parseLisp(lisp); });
  return 0;
}
