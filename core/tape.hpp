// What the first round of a step leaves for the second.
#pragma once
#include "arena.hpp"

namespace halk {

// Queries of a step to one agent: their points (n, p), the asking agents' multipliers, and along
// which of the agent's own edges they came.
struct Queries {
  int n;
  const double *x, *multiplier;
  const int* edge;
};
// What a query carries besides: F_j(x_j) and the asking agent's std.
struct Asker {
  double value = 0.0, std = 1.0;
};

// Records and rows of doubles that are written in one round and read in the same order in the next.
// One per thread: scratch stays out of the agents, 0.6 kB per agent and step read sequentially
// instead of 9 kB (2.3x at 1,000 agents). Rows are in blocks, which need not be moved to grow.
template <class Header, class Point>
class Tape {
 public:
  explicit Tape(Arena& arena) : arena(&arena) {}

  void rewind() { n_headers = n_points = block = used = 0; }

  Header& push_header() { return push(headers, n_headers); }
  Point& push_point() { return push(points, n_points); }
  double* push_row(std::size_t n) {
    if (blocks.empty()) add_block(n);
    while (used + n > blocks[block].second) {
      used = 0;
      if (++block == blocks.size()) add_block(n);
    }
    return blocks[block].first + std::exchange(used, used + n);
  }

  Header& last_header() { return headers[n_headers - 1]; }
  Header& next_header() { return headers[n_headers++]; }
  Point* next_points(int n) { return points.data() + std::exchange(n_points, n_points + n); }
  double* next_row(std::size_t n) { return push_row(n); }  // finds the place where it was pushed

 private:
  static constexpr std::size_t BLOCK = std::size_t(1) << 18;  // doubles: 2 MB, a huge page
  Arena* arena;
  std::vector<Header> headers;
  std::vector<Point> points;
  std::vector<std::pair<double*, std::size_t>> blocks;  // memory and its size in doubles
  std::size_t n_headers = 0, n_points = 0, block = 0, used = 0;

  void add_block(std::size_t n) {
    const std::size_t size = std::max(blocks.empty() ? BLOCK / 64 : BLOCK, padded(int(n)) * 1ul);
    blocks.emplace_back(arena->allocate(size), size);
  }
  template <class T>
  static T& push(std::vector<T>& v, std::size_t& n) {
    if (v.size() == n) v.resize(2 * n + 1);
    return v[n++];
  }
};

}  // namespace halk
