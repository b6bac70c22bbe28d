#include <stdio.h>
#define MAX(a, b) ((a) > (b) ? (a) : (b))
typedef struct node { int v; } node_t;
struct opaque;
enum color { RED };
static int *helper(struct node *n, int k);
static int *helper(struct node *n, int k) { if (k && n) { for (;;) { switch (k) { case 1: break; } } } return 0; }
int (*callback(int a))(int) { return 0; }
int main(int argc, char **argv) { helper(0, 1); node_t x; x.v = MAX(1, 2); printf("helper"); return 0; }
